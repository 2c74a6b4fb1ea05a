"""`python -m bliss_framework` is `bliss`."""

from bliss_framework.console import main

if __name__ == "__main__":
    main()
