"""What goes wrong on purpose: which request it meets (`script`), and what happens (`kinds`)."""
