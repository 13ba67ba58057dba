"""Companies as data: reading, checking, resolving and showing what their YAML says (design §4)."""
