"""The command line: `python -m spacy_pointparse`."""

from .cli import app

if __name__ == "__main__":
    app()
