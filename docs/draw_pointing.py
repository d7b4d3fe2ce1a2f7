"""Draw the pictures of docs/pointing.md: `python docs/draw_pointing.py`."""

from pathlib import Path

from spacy.displacy import DependencyRenderer
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_pointparse import render
from spacy_pointparse.pointing import tree_to_pointing
from spacy_pointparse.tokens import make_doc, set_constituents
from spacy_pointparse.trees import clean_tree, parse_trees

DOCS = Path(__file__).parent
TREE = (
    "(S (NP (NNS Owls)) (VP (VBP like) (S (VP (VBG hunting) (NP (NNS mice)) "
    "(PP (IN at) (NP (NN night)))))) (. .))"
)
SMALL = {"distance": 130, "word_spacing": 30}


def make_example() -> Doc:
    """Make the Doc of the page's sentence."""
    [tree] = parse_trees([TREE])
    return make_doc([clean_tree(tree)], Vocab())


def make_binary(doc: Doc) -> Doc:
    """Copy a Doc of one sentence, with the spans of the binary tree."""
    spans = ((s.start, s.end, s.label_) for s in doc.spans["constituents"])
    targets, labels, unaries = tree_to_pointing(list(spans), len(doc))
    brackets = [
        (min(word, target), max(word, target) + 1, label or "∅")
        for word, (target, label) in enumerate(zip(targets.tolist()[:-1], labels))
    ]
    singles = [(i, i + 1, label) for i, label in enumerate(unaries) if label]
    binary = doc.copy()
    set_constituents(binary, brackets + singles)
    return binary


def draw_arrows(doc: Doc) -> str:
    """Draw what each word of a Doc of one sentence points at, by displaCy."""
    spans = ((s.start, s.end, s.label_) for s in doc.spans["constituents"])
    targets, labels, _ = tree_to_pointing(list(spans), len(doc))
    words = [{"text": word.text, "tag": str(word.i)} for word in doc]
    arcs = [
        {
            "start": min(word, target),
            "end": max(word, target),
            "label": label or "∅",
            "dir": "right" if word < target else "left",
        }
        for word, (target, label) in enumerate(zip(targets.tolist(), labels))
    ]
    return DependencyRenderer(SMALL).render_svg("pointing", words, arcs)


if __name__ == "__main__":
    example = make_example()
    for name, picture in (
        ("pointing_tree", render(example, jupyter=False)),
        ("pointing_binary", render(make_binary(example), jupyter=False)),
        ("pointing_arrows", draw_arrows(example)),
    ):
        (DOCS / f"{name}.svg").write_text(picture + "\n", encoding="utf8")
