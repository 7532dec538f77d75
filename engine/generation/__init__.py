"""From chat to tokens and back: templates, sampling, stop rules, incremental detokenizing."""
