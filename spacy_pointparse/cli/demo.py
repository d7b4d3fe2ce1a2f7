"""The command `demo`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from .environment import default_environment
from .options import clear_errors

# Default settings of Streamlit.
_SETTINGS = {
    "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
    "STREAMLIT_CLIENT_SHOW_ERROR_DETAILS": "none",
    "STREAMLIT_CLIENT_TOOLBAR_MODE": "viewer",
    "STREAMLIT_SERVER_ADDRESS": "localhost",
    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
    "STREAMLIT_SERVER_SHOW_EMAIL_PROMPT": "false",
    "STREAMLIT_THEME_PRIMARY_COLOR": "#004488",
}


@clear_errors()
def demo_cli(
    model: Annotated[
        str, typer.Argument(help="Name or path of a trained pipeline")
    ] = "en_pointparse_sm",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port of the page; a free one by default"),
    ] = None,
) -> None:
    """Serve a web page that parses texts. Stop it with Ctrl+C."""
    if not find_spec("streamlit"):
        raise ImportError(
            'The page needs Streamlit: pip install "spacy-pointparse[demo]".'
        )
    from streamlit.web import cli

    from ..visualization.page.content import load_pipeline

    load_pipeline(model)
    options = [] if port is None else ["--server.port", str(port)]
    script = Path(__file__).parents[1] / "visualization" / "page" / "app.py"
    with default_environment(_SETTINGS):
        cli.main(["run", str(script), *options, "--", model])
