"""The parts of README and docs that the code itself can say: tables, listings, real messages.

A page keeps its place for each of them between two markers, and ``make docs`` fills it:

    <!-- generated: ops -->
    ...
    <!-- end -->

What is written by hand around the markers is left as it is.
"""
