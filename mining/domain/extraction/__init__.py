"""What can be read out of a text: entities and the relations between them, in one closed vocabulary."""
