"""What `ask-book doctor` looks at: the machine, the book, the programs that run."""
