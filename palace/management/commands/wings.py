"""`wings`: another name of `wing`."""

from palace.management.commands.wing import Command as Command
