"""The command line: `python -m spacy_pointparse`, or `pointparse`."""

import typer

from .config import config_cli
from .convert import convert_cli
from .demo import demo_cli
from .environment import short_warnings
from .evaluate import calibrate_cli, evaluate_cli
from .join import join_cli
from .parse import parse_cli
from .score import score_cli
from .search import search_cli
from .show import show_cli
from .stats import stats_cli

app = typer.Typer(
    name="spacy_pointparse",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",  # joins the lines of a docstring
)
app.command("parse")(parse_cli)
app.command("search")(search_cli)
app.command("show")(show_cli)
app.command("demo")(demo_cli)
app.command("stats")(stats_cli)
app.command("convert")(convert_cli)
app.command(
    "config",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(config_cli)
app.command("score")(score_cli)
app.command("evaluate")(evaluate_cli)
app.command("calibrate")(calibrate_cli)
app.command("join")(join_cli)


@app.callback()
def prepare(context: typer.Context) -> None:
    """Constituency parsing by pointing."""
    context.with_resource(short_warnings())
