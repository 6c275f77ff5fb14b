"""What the commands do, beneath the command line."""
