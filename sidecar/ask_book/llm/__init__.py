"""A client for models behind an OpenAI-compatible interface: chat, tools, embeddings."""
