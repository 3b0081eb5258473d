#!/usr/bin/env python
"""The command line of MemCastle: `python manage.py COMMAND`."""

import sys

from memcastle_site.console.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
