"""The waist between deploy time and request time: a compiled endpoint, and its stored form."""
