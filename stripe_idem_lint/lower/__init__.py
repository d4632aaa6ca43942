"""From libcst trees to the intermediate representation. Knows Python only."""
