"""Where the message is written: text, attachments, queue and how much of the context they take."""
