"""`jobs`: another name of `job`."""

from jobs.management.commands.job import Command as Command
