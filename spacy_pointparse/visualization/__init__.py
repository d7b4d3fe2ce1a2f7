"""Draw parses, explain labels, and show the web page.

Knows spaCy, svgling, matplotlib and Streamlit. Must not import training or `pipeline`.
"""
