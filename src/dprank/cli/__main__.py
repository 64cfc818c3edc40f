"""`python -m dprank.cli`: the command `dprank`."""

from dprank.cli import main

if __name__ == "__main__":
    main()
