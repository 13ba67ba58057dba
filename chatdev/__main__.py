"""`python -m chatdev`."""

from chatdev.cli.app import main

if __name__ == "__main__":
    main()
