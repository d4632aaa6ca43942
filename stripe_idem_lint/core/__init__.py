"""Words that every stage shares: places, severities, findings, errors, settings. No I/O, no library."""
