"""What the names of libraries mean, read from the TOML files of rule packs and of the user."""
