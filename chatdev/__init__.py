"""A company of language-model agents that builds software by a chat chain."""
