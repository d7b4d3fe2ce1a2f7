"""Moving from benepar: what docs/benepar.md says, and both packages in one process.

benepar is not installed with the tests. A stand-in registers what benepar 0.2.0
registers, at the same time and in the same way; where benepar is, it is tried too.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from samples import run_page
from spacy.util import is_package

PAGE = Path(__file__).parents[2] / "docs" / "benepar.md"
ENGLISH = "en_pointparse_sm"
INSTALL = "import spacy_pointparse\nspacy_pointparse.install_extensions()"

# A parse is arrays over brackets in pre-order, single words among them, and the first
# of these for each word. The stand-in only looks up the range that it is asked for.
EXTENSIONS = """
from spacy.tokens import Doc, Span, Token

NOT_PARSED = object()


class NonConstituentException(Exception):
    pass


class ConstituentData:
    def __init__(self, starts, ends, labels, loc_to_constituent, label_vocab):
        self.labels = {
            (start, end): label_vocab[label]
            for start, end, label in zip(starts, ends, labels)
        }


def get_labels(span):
    data = span.doc._._constituent_data
    if data is NOT_PARSED:
        raise Exception("No constituency parse is available for this document.")
    if (span.start, span.end) not in data.labels:
        raise NonConstituentException(f"Span is not a constituent: {span}")
    return data.labels[span.start, span.end]


def get_string(span):
    return f"({' '.join(get_labels(span))} ...)"


def get_spans(span):
    get_labels(span)
    ranges = span.doc._._constituent_data.labels
    yield from (span.doc[start:end] for start, end in ranges)


def get_parent(span):
    get_labels(span)
    return span.sent if len(span) < len(span.sent) else None


def on_word(getter):
    return lambda token: getter(token.doc[token.i : token.i + 1])  # not to be pickled


Doc.set_extension("_constituent_data", default=NOT_PARSED)
Span.set_extension("labels", getter=get_labels)
Span.set_extension("parse_string", getter=get_string)
Span.set_extension("constituents", getter=get_spans)
Span.set_extension("parent", getter=get_parent)
Span.set_extension("children", getter=get_spans)
Token.set_extension("labels", getter=on_word(get_labels))
Token.set_extension("parse_string", getter=on_word(get_string))
Token.set_extension("parent", getter=on_word(get_parent))
"""
COMPONENT = """
from spacy.language import Language

from .integrations.spacy_extensions import NonConstituentException

Language.factory("benepar", func=lambda nlp, name, model: lambda doc: doc)
"""
# Two Docs of the same words, one parsed by ours and one as by benepar.
DOCS = """
import pickle
import numpy
import pytest
import spacy
from benepar.integrations.spacy_extensions import ConstituentData
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy_pointparse.tokens.constituents import set_constituents

nlp = spacy.blank("en")
words, starts = ["Red", "kites", "fly"], [True, False, False]
ours, theirs, neither, both = (
    Doc(nlp.vocab, words=words, tags=["JJ", "NNS", "VBP"], sent_starts=starts)
    for _ in range(4)
)


def parse(doc):
    "As benepar sets a parse: (S (XP Red kites) fly)."
    doc._._constituent_data = ConstituentData(
        numpy.array([0, 0, 0, 1, 2]),
        numpy.array([3, 2, 1, 2, 3]),
        numpy.array([1, 2, 0, 0, 0]),
        numpy.array([0, 3, 4]),
        ((), ("S",), ("XP",)),
    )


for doc in (ours, both):
    set_constituents(doc, [(0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")])
for doc in (theirs, both):
    parse(doc)
"""
EACH_ITS_OWN = """
for doc in (ours, both):
    assert doc[0:2]._.labels == ("NP",)
    assert doc[2]._.labels == ("VP",)
    assert doc[2]._.parse_string == "(VP (VBP fly))"
    assert doc[2]._.parent.text == "Red kites fly"
    assert [span.text for span in doc[:]._.children] == ["Red kites", "fly"]
    assert len(list(doc[:]._.constituents)) == 5
    assert doc._.parse_string == "(S (NP (JJ Red) (NNS kites)) (VP (VBP fly)))"
    with pytest.raises(spacy_pointparse.NonConstituentException):
        doc[1:3]._.labels

assert theirs[0:2]._.labels == ("XP",)
assert theirs[2]._.labels == ()
assert theirs[:]._.parse_string.startswith("(S ")
assert theirs[2]._.parent.text == "Red kites fly"
assert len(list(theirs[:]._.constituents)) == 5
with pytest.raises(benepar.NonConstituentException):
    theirs[1:3]._.labels

with pytest.raises(Exception, match="No constituency parse is available"):
    neither[0:2]._.labels
with pytest.raises(ValueError, match="no constituency parse"):
    neither._.parse_string
assert Doc(nlp.vocab).from_bytes(ours.to_bytes())[0:2]._.labels == ("NP",)
assert spacy.blank("en").has_factory("benepar")
assert spacy.blank("en").has_factory("pointing_parser")
with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
    pickle.dumps(Underscore.get_state())  # as spaCy sends it to a spawned process
print("both answer")
"""


@pytest.fixture(params=["stand-in", "benepar"])
def run(request, tmp_path):
    """Run code in a process of its own that finds benepar, or the stand-in."""
    setup = ["import sys"]
    if request.param == "stand-in":
        package = tmp_path / "benepar"
        (package / "integrations").mkdir(parents=True)
        (package / "__init__.py").write_text(COMPONENT)
        (package / "integrations" / "__init__.py").write_text("")
        (package / "integrations" / "spacy_extensions.py").write_text(EXTENSIONS)
        setup.append(f"sys.path.insert(0, {str(tmp_path)!r})")
    elif importlib.util.find_spec("benepar") is None:
        pytest.skip("benepar is not installed")

    def run(*parts):
        command = [sys.executable, "-c", "\n".join([*setup, *parts])]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def read_blocks(kind):
    page = PAGE.read_text(encoding="utf8")
    return re.findall(f"```{kind}\n(.*?)```", page, re.DOTALL)


def test_benepar_before_ours(run):
    result = run("import benepar", INSTALL, DOCS, EACH_ITS_OWN)
    assert result.stdout == "both answer\n", result.stderr


def test_benepar_after_ours_stops_with_its_own_error(run):
    result = run(INSTALL, "import benepar")
    assert result.returncode == 1
    assert "E090" in result.stderr.splitlines()[-1]
    assert "'labels' already exists on Span" in result.stderr


def test_benepar_after_ours_where_the_page_makes_room(run):
    [room] = [block for block in read_blocks("py") if "remove_extension" in block]
    attempt = "try: import benepar\nexcept ValueError: print('refused')"
    result = run(INSTALL, attempt, room, DOCS, EACH_ITS_OWN)
    assert result.stdout == "refused\nboth answer\n", result.stderr


@pytest.mark.skipif(not is_package(ENGLISH), reason="not installed")
def test_page_on_benepar(small_english):
    run_page(PAGE)


def test_page_on_benepar_quotes_python():
    blocks = read_blocks("py")
    assert len(blocks) == 5
    for block in blocks:
        ast.parse(block)
