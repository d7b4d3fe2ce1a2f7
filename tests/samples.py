"""What several tests share: lines of a treebank, their trees once cleaned, a parser
whose scores are given, checks of pointings and transformers, and what must not be
unpickled."""

import os
import re
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO

import numpy
import pytest
import spacy
from thinc.api import Adam, Linear, Model

LINES = [
    "(TOP (S (NP-SBJ (DT The) (NNS looms)) (VP (VBP hum)) (. .)))",
    "(TOP (S (NP (PRP We)) (VP (VBD left) (NP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
    "(. .)))",
    "(TOP (NP (NNS Geese)) (. !))",
]
PARSES = [
    "(S (NP (DT The) (NNS looms)) (VP (VBP hum)) (. .))",
    "(S (NP (PRP We)) (VP (VBD left) (NP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
    "(. .))",
    "(TOP (NP (NNS Geese)) (. !))",
]
BOAT = (
    "(S (NP (PRP She)) (VP (VBD sold) (NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (JJ red) (NN sail))))) (. .))"
)
needs_svgling = pytest.mark.skipif(
    find_spec("svgling") is None,
    reason="no svgling: the extra [pictures]",
)
needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None,
    reason="no matplotlib: the extra [plot]",
)
BROKEN = "(TOP (S (NP (NN oops)) (VP (VB"


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def parses(docs):
    return [doc._.parse_string for doc in docs]


def score_by_hand(general, singleton, spans=(0.0, 1.0), unaries=(1.0, 0.0), **settings):
    """A pipeline of a parser that gives every sentence the same probabilities: of each
    word pointing at each other, of each being a part by itself, and of a span, and of
    a word, having no label or the label X."""
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("pointing_parser", config=settings)
    parser.add_label("X")
    general = numpy.asarray(general, dtype="f")
    rest = (1 - numpy.asarray(singleton, dtype="f")) / max(len(general) - 1, 1)
    selves = numpy.tile(rest[:, None], len(general))
    numpy.fill_diagonal(selves, singleton)

    def point(model, embedded, rows):
        return (
            rows,
            *(take_logs(head)[None].repeat(len(rows), 0) for head in heads),
            None,
        )

    def label(model, encoded, targets):
        return tuple(take_logs(row)[None].repeat(len(targets), 0) for row in rows)

    heads, rows = (general, selves), (spans, unaries)
    steps = {"embed": lambda model, docs: None, "point": point, "label": label}
    parser.model = Model("by_hand", None, refs={"output_layer": Linear(2)}, attrs=steps)
    return nlp


def take_logs(probabilities):
    return numpy.log(numpy.maximum(probabilities, 1e-9), dtype="f")


def read_spans(targets):
    """The spans that the paper's inverse H' finds: first and last word of each."""
    return [(min(i, int(p)), max(i, int(p))) for i, p in enumerate(targets[:-1])]


def assert_is_whole_tree(targets):
    """A binary tree has one span fewer than words, all distinct, none crossing."""
    length = len(targets)
    spans = set(read_spans(targets))
    assert len(spans) == length - 1
    assert length == 1 or (0, length - 1) in spans
    assert all(0 <= first < last < length for first, last in spans)
    assert not [(a, b) for a in spans for b in spans if a[0] < b[0] <= a[1] < b[1]]


def assert_transformer_learns(nlp, examples):
    """What the parser learns reaches the transformer that it listens to."""
    transformer = nlp.get_pipe("transformer")
    assert transformer.listening_components == ["pointing_parser"]
    nlp.initialize(lambda: examples)
    before = transformer.model.to_bytes()
    optimizer = Adam(0.005)
    # spaCy updates the transformer with what its listeners sent in the step before.
    for _ in range(2):
        nlp.update(examples, sgd=optimizer)
    assert transformer.model.to_bytes() != before


def list_blocks(page, *kinds):
    """The code blocks of a page of these kinds: the kind of each, and its text."""
    pattern = rf"^```({'|'.join(kinds)})\n(.*?)^```"
    text = page.read_text(encoding="utf8")
    return re.findall(pattern, text, re.DOTALL | re.MULTILINE)


def run_page(page, is_quiet=False):
    """Run the Python of a page, block by block, and check what each prints: a block of
    text that follows says it. A quiet page need not say it."""
    names = {"__name__": page.name}
    printed = ""
    for kind, block in list_blocks(page, "python", "text"):
        if kind == "python":
            assert is_quiet or not printed, f"{page.name} does not say what is printed"
            with redirect_stdout(StringIO()) as output:
                exec(compile(block, page.name, "exec"), names)
            printed = output.getvalue()
        else:
            assert printed == block, f"{page.name} should say:\n{printed}"
            printed = ""
    assert is_quiet or not printed, f"{page.name} does not say what is printed"
