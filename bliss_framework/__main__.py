"""`python -m bliss_framework` is `bliss`."""

from bliss_framework.console import main

main()
