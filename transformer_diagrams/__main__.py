"""`python -m transformer_diagrams` is the program `transformer-diagrams`."""

from transformer_diagrams.cli import main

main()
