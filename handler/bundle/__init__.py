"""The interface between deploy time and request time: a compiled endpoint, and its stored form."""
