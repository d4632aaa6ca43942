"""From facts to findings: rules, their order, pragmas."""
