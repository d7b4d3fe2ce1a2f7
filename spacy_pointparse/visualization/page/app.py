"""The script that Streamlit runs, see the command `demo`."""

import sys

from spacy_pointparse.visualization.page.content import show_page

show_page(sys.argv[1])
