"""`drawers`: another name of `drawer`."""

from palace.management.commands.drawer import Command as Command
