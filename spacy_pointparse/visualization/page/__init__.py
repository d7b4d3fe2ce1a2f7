"""The web page, built with Streamlit.

Knows Streamlit. Only the command `demo` may import it.
"""
