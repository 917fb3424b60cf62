"""Drawing: a scene and a theme become a display list, and every format is a writer of it."""
