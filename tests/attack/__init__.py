"""Attacks on everything that reads what others wrote: a module for each area, run by `__main__`."""

AREAS = (
    "safetensors", "gguf", "config", "manifest", "store", "notes", "files", "hub", "catalogue", "pipe", "chats", "pdf",
    "tokenizer",
)  # fmt: skip
