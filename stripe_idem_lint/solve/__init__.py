"""Where keys are born and what runs the calls again."""
