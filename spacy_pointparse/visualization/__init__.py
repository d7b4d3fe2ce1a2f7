"""Pictures of parses, what labels mean, and the web page.

Knows spaCy, svgling, matplotlib and Streamlit. Must not import training or `pipeline`.
"""
