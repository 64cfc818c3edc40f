"""`python -m dprank.cli`: the command `dprank`."""

from dprank.cli import main

main()
