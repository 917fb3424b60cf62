"""The data of the figures, typed again from their definition; nothing here imports the package."""

from __future__ import annotations

import numpy as np

TOKENS = ("the", "cat", "sat", "on", "the", "mat", "because", "it")

# word: signed identity column, columns that hold 1, and the four columns of noise
_ROWS = {
    "the": ((0, 1), (9, 11), (-0.52, 0.83, 0.22, 0.85)),
    "cat": ((1, 1), (4, 8, 11), (-0.9, 0.71, -0.28, -0.89)),
    "sat": ((2, 1), (5, 11), (-0.86, 0.97, 0.95, 0.06)),
    "on": ((3, 1), (6, 11), (-0.1, 0.1, 0.21, 0.55)),
    "mat": ((1, -1), (4, 11), (0.56, -0.16, -0.05, 0.7)),
    "because": ((0, -1), (10, 11), (-0.28, -0.04, -0.82, 0.5)),
    "it": ((2, -1), (7, 11), (0.67, -0.28, -0.64, 0.96)),
}
_NOISE_Q = """
-0.96 -0.54 0.75 -0.34   0.29 0.51 0.49 0.04    0.17 -0.09 0.92 -0.99   0.89 0.4 0.08 0.26
0.24 0.94 0.26 -0.44     -0.11 0.53 -0.48 0.77  0.61 -0.2 0.65 0.61     0.85 -0.5 0.08 0.81
-0.26 -0.06 -0.01 0.62   -0.36 -0.7 -0.71 -0.82 0.36 -0.07 -0.44 -0.17  -0.57 -0.27 0.65 0.88
-0.82 0.42 -0.9 -0.14    0.27 -0.98 -1.0 0.79   -0.66 -0.7 -0.51 0.51   -0.67 0.47 -0.47 0.56
"""
_NOISE_K = """
-0.61 0.92 -0.94 -0.31   -0.35 -0.72 0.36 0.54  0.95 -0.48 -0.52 0.43   -0.3 -0.5 0.79 0.92
-0.99 0.66 -0.66 -0.94   -0.64 -0.89 -0.83 -0.08 0.75 0.94 -0.69 0.46   0.71 -0.85 0.4 -0.84
-0.86 -0.32 0.96 0.54    -0.68 -0.86 -0.99 0.1  -0.96 0.83 -0.83 -0.32  0.22 0.41 -0.08 -0.31
-0.03 0.96 0.18 -0.53    0.46 -0.27 0.8 -0.96   -0.48 -0.59 -0.73 0.47  0.36 -0.98 0.07 -0.7
"""


def _embeddings() -> np.ndarray:
    table = np.zeros((8, 16))
    for row, word in enumerate(TOKENS):
        (column, sign), ones, noise = _ROWS[word]
        table[row, column] = sign
        table[row, list(ones)] = 1
        table[row, 12:] = noise
    return table


def _projection(noise: str) -> np.ndarray:
    table = np.zeros((16, 16))
    table[:, 12:] = np.array(noise.split(), dtype=float).reshape(16, 4)
    return table


E = _embeddings()
WQ, WK = _projection(_NOISE_Q), _projection(_NOISE_K)
WQ[range(4), range(4)], WK[range(4), range(4)] = 4, 2
WQ[7, 4:8] = 4, 1, 4, 1
WK[8, [4, 6]] = 1
WK[4, [5, 7]] = 1
WQ[5, [8, 10]] = 4
WQ[6, [9, 11]] = 4
WK[4, 8:12] = 1

OBJECTS = (  # name, class, box: centre x, centre y, width, height
    ("left cat", 0, (0.27, 0.5, 0.3, 0.4)),
    ("right cat", 0, (0.68, 0.48, 0.28, 0.44)),
    ("remote", 1, (0.48, 0.86, 0.16, 0.1)),
)
SLOTS = (  # p(cat), p(remote), box
    (0.4, 0.02, (0.3, 0.54, 0.26, 0.34)),
    (0.06, 0.04, (0.5, 0.2, 0.2, 0.2)),
    (0.5, 0.03, (0.64, 0.53, 0.34, 0.4)),
    (0.62, 0.05, (0.14, 0.48, 0.28, 0.44)),
    (0.03, 0.25, (0.47, 0.85, 0.17, 0.11)),
    (0.95, 0.02, (0.44, 0.46, 0.36, 0.44)),
    (0.02, 0.8, (0.55, 0.78, 0.2, 0.14)),
    (0.3, 0.05, (0.36, 0.56, 0.4, 0.46)),
)
