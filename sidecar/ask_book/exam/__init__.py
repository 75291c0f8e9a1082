"""An exam of a book: questions whose right passages are known, and questions that must be refused."""
