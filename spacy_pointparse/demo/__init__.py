"""The web page, made with Streamlit."""
