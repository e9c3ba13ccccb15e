"""``python -m equicolor``: the command line."""

import sys

from equicolor.cli import main

if __name__ == "__main__":
    sys.exit(main())
