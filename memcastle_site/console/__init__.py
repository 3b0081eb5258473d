"""What the commands share: parsing, output, questions, and the client that speaks to the daemon."""
