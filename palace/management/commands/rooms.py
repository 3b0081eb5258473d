"""`rooms`: another name of `room`."""

from palace.management.commands.room import Command as Command
