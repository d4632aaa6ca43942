"""Files: which ones, their bytes, their trees; failures are values."""
