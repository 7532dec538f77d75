"""How a chat is answered: system prompt and sampling, for one chat or under a name."""
