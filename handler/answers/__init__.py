"""Answers cut to a size: the plan of an answer, the cut, and the words that say how to go on."""
