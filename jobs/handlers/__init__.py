"""The handlers of the kinds that belong to no other app."""
