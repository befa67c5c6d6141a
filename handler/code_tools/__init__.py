"""Tools, prompts and resources that authors write in Python."""
