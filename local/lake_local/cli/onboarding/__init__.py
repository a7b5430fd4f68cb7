"""What the command `onboard` does, by the kind of its source."""
