"""`chatdev run` from a checkout: python run.py --task "…" --name X."""
import sys

from chatdev.cli.app import main

main(["run", *sys.argv[1:]])
