"""The web page, made with Streamlit.

Knows Streamlit. Must not be imported but by the command `demo`.
"""
