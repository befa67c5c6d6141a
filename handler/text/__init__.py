"""Words and characters: parts of sentences, invisible characters, and names that say secret."""
