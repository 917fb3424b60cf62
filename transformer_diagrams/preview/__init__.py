"""A page on this machine alone that shows figures while their specs are written."""
