"""What holds whatever comes in. The tests try some cases of each property, and
`benchmarks/properties.py` as many as it is asked for."""

import io
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy
from hypothesis import strategies as st
from nltk import Tree
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab
from strategies import (
    OPTIONS,
    File,
    Parsed,
    Tokens,
    draw_constituents,
    draw_files,
    draw_labels,
    draw_parsed,
    draw_saved_docs,
    draw_texts,
    draw_tokens,
)

from spacy_pointparse.evaluation.evalb import count_brackets
from spacy_pointparse.evaluation.params import SETTINGS, get_setting
from spacy_pointparse.evaluation.scorer import constituents_score
from spacy_pointparse.pointing import (
    decode,
    decode_exact,
    pointing_to_tree,
    tree_to_pointing,
)
from spacy_pointparse.tokens import SPANS_KEY, get_sentences, make_doc
from spacy_pointparse.tokens.constituents import UNKNOWN_TAG
from spacy_pointparse.tokens.treebank import read_docs
from spacy_pointparse.training.convert import convert_treebank
from spacy_pointparse.trees import (
    ROOT,
    TreebankError,
    build_tree,
    clean_tree,
    escape_word,
    flatten_tree,
    parse_trees,
    read_trees,
    tree_to_string,
)

MAX_NLTK_DEPTH = 100  # nltk refuses more than 500, and its == recurses


class Property(NamedTuple):
    """What holds of all cases of a kind.

    cases (SearchStrategy): The cases.
    share (int): How many of a hundred cases the benchmark tries of it: fewer of the
        slow ones.
    check (Callable): Given a pipeline and a case, raises where it does not hold.
    """

    cases: st.SearchStrategy
    share: int
    check: Callable[[Language, Any], None]


PROPERTIES: dict[str, Property] = {}


def holds_of(cases: st.SearchStrategy, *, share: int) -> Callable:
    """Put a check on the list, under its name."""

    def put(check: Callable) -> Callable:
        PROPERTIES[check.__name__] = Property(cases, share, check)
        return check

    return put


# --- a parse ---


def assert_is_parse(doc: Doc) -> None:
    """Each sentence is one tree over its words, which its string reads back to."""
    assert_is_nested(doc)
    sentences = [
        words
        for sent in get_sentences(doc)
        if (words := [token for token in sent if not token.is_space])
    ]
    trees = doc._.parse_trees
    strings = doc._.parse_string.split("\n") if sentences else []
    assert len(trees) == len(strings) == len(sentences)
    for words, tree, string in zip(sentences, trees, strings):
        leaves, own_tags, _ = flatten_tree(tree)
        tags = [token.tag_ or UNKNOWN_TAG for token in words]
        assert (leaves, own_tags) == ([token.text for token in words], tags)
        [read] = parse_trees([string])
        assert tree_to_string(read) == string
        assert_reads_in_nltk(string, read)
        assert flatten_tree(read) == (
            [escape_word(token.text) for token in words],
            [print_name(tag) for tag in tags],
            [(s, e, print_name(label)) for s, e, label in list_brackets(doc, words)],
        )


def assert_reads_in_nltk(string: str, tree: Tree) -> None:
    depths = accumulate({"(": 1, ")": -1}.get(char, 0) for char in string)
    if max(depths) < MAX_NLTK_DEPTH:
        assert Tree.fromstring(string) == tree


def assert_is_nested(doc: Doc) -> None:
    """The brackets are in pre-order, none crosses another or a sentence, and none
    begins or ends at white space."""
    sentences = [(sent.start, sent.end) for sent in get_sentences(doc)]
    last = (0, -len(doc))
    open_ends: list[int] = []
    for span in doc.spans[SPANS_KEY]:
        assert last <= (span.start, -span.end)
        last = (span.start, -span.end)
        while open_ends and open_ends[-1] <= span.start:
            open_ends.pop()
        assert not open_ends or span.end <= open_ends[-1]
        open_ends.append(span.end)
        assert any(start <= span.start and span.end <= end for start, end in sentences)
        assert not span[0].is_space and not span[-1].is_space
        assert span.label_ in span._.labels


def list_brackets(doc: Doc, words: list) -> list[tuple[int, int, str]]:
    """The brackets of a sentence, counted in words."""
    rows = {token.i: row for row, token in enumerate(words)}
    return [
        (rows[span.start], rows[span.end - 1] + 1, span.label_)
        for span in doc.spans[SPANS_KEY]
        if span.start in rows
    ]


def print_name(name: str) -> str:
    """A label or tag as trees are printed with it."""
    return tree_to_string(Tree(name, []))[1:-1]


def make_tokens(nlp: Language, tokens: Tokens) -> Doc:
    words, spaces, starts, tags = tokens
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts, tags=tags)


@contextmanager
def no_warnings() -> Iterator[None]:
    """Hear no warnings of missing boundaries, sentences in pieces and the like."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@holds_of(draw_texts(), share=14)
def text_has_a_tree_for_each_sentence(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert_is_parse(doc)


@holds_of(
    st.tuples(
        draw_tokens(),
        st.sampled_from(["exact", "greedy", "beam"]),
        st.sampled_from([1000, 1, 2, 5]),
    ),
    share=14,
)
def tokens_are_kept_by_every_decoder(
    nlp: Language, case: tuple[Tokens, str, int]
) -> None:
    tokens, decoder, max_length = case
    parser = nlp.get_pipe("pointing_parser")
    settings = {"decoder": decoder, "max_length": max_length}
    kept = {name: getattr(parser, name) for name in settings}
    doc = make_tokens(nlp, tokens)
    try:
        vars(parser).update(settings)
        with no_warnings():
            parser(doc)
    finally:
        vars(parser).update(kept)
    assert [token.text for token in doc] == tokens.words
    if tokens.tags:
        assert all(token.tag_ == tag for token, tag in zip(doc, tokens.tags) if tag)
    assert_is_parse(doc)


@holds_of(st.tuples(st.lists(draw_texts(), max_size=5), st.integers(1, 6)), share=4)
def batch_is_single_and_in_order(nlp: Language, case: tuple[list[str], int]) -> None:
    texts, size = case
    docs = list(nlp.pipe(texts, batch_size=size))
    assert [doc.text for doc in docs] == texts
    single = [nlp(text)._.parse_string for text in texts]
    assert [doc._.parse_string for doc in docs] == single


@holds_of(draw_texts() | draw_tokens(), share=4)
def parse_survives_being_saved(nlp: Language, case: str | Tokens) -> None:
    with no_warnings():
        doc = nlp(case if isinstance(case, str) else make_tokens(nlp, case))
    # Pickled Docs hold their vocabulary: a small one is quick.
    vocab = Vocab(lex_attr_getters=nlp.vocab.lex_attr_getters)
    binary = DocBin(docs=[doc], store_user_data=True).to_bytes()
    [unpacked] = DocBin().from_bytes(binary).get_docs(vocab)
    copies = {
        "bytes": Doc(vocab).from_bytes(doc.to_bytes()),
        "DocBin": unpacked,
        "pickle": pickle.loads(pickle.dumps(unpacked)),
    }
    if isinstance(case, str):  # spaCy's JSON cannot hold all that is cut otherwise
        copies["JSON"] = Doc(nlp.vocab).from_json(doc.to_json())
    for way, copy in copies.items():
        assert copy.text == doc.text, way
        assert copy._.parse_string == doc._.parse_string, way
        assert list_spans(copy) == list_spans(doc), way


def list_spans(doc: Doc) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in doc.spans[SPANS_KEY]]


# --- a tree ---


@holds_of(draw_parsed(), share=14)
def tree_is_written_and_read(nlp: Language, parsed: Parsed) -> None:
    tree = build_tree(*parsed)
    string = tree_to_string(tree)
    [read] = parse_trees([string])
    assert tree_to_string(read) == string
    assert_reads_in_nltk(string, read)
    words, tags, constituents = flatten_tree(tree)
    assert flatten_tree(read) == (
        [print_name(word) for word in words],
        [print_name(tag) for tag in tags],
        [(start, end, print_name(label)) for start, end, label in constituents],
    )


@holds_of(draw_constituents(), share=12)
def tree_is_its_pointings(
    nlp: Language, tree: tuple[list[tuple[int, int, str]], int]
) -> None:
    constituents, length = tree
    pointings = tree_to_pointing(constituents, length)
    assert pointing_to_tree(pointings) == constituents
    general = numpy.zeros((length, length))
    general[numpy.arange(length), pointings.targets] = 1.0
    decoded = [decode(general, numpy.ones(length))]
    decoded += decode_exact(general[None], numpy.ones((1, length)), [length])
    for targets in decoded:
        assert targets.tolist() == pointings.targets.tolist()
        assert pointing_to_tree(pointings._replace(targets=targets)) == constituents


@holds_of(draw_parsed(), share=8)
def tree_goes_through_a_doc(nlp: Language, parsed: Parsed) -> None:
    tree = clean_tree(build_tree(*parsed))
    doc = make_doc([tree] if tree else [], nlp.vocab)
    assert_is_parse(doc)


@holds_of(st.tuples(draw_parsed(), st.sampled_from(sorted(SETTINGS))), share=8)
def tree_scores_100_against_itself(nlp: Language, case: tuple[Parsed, str]) -> None:
    parsed, name = case
    row = count_brackets(parsed, parsed, get_setting(name))
    assert row.matched == row.gold == row.test
    assert (row.tags, row.crossing) == (row.words, 0)
    tree = clean_tree(build_tree(*parsed))
    doc = make_doc([tree] if tree else [], nlp.vocab)
    scores = constituents_score([Example(doc, doc.copy())], setting=name)
    counted = any(scores["spans_constituents_per_type"])
    for key in ("p", "r", "f"):
        assert scores[f"spans_constituents_{key}"] == float(counted)


@holds_of(draw_labels(), share=8)
def label_loses_its_functions(nlp: Language, case: tuple[str, str, str]) -> None:
    label, head, separators = case
    tree = Tree(label, [Tree("N", ["boat"])])
    for keep in (False, True):
        cleaned = clean_tree(tree, separators=separators, keep_functions=keep)
        found = cleaned[0].label()
        assert found == head if not keep else label.startswith(head)
        again = clean_tree(cleaned, separators=separators, keep_functions=keep)
        assert again == cleaned


# --- a file ---

COUNT = re.compile(r"skipped (\d+) faulty tree\(s\)\. First error: (.*)", re.DOTALL)


def read_until_fault(path: Path, options: dict[str, Any]) -> tuple[list[str], str]:
    """The trees before the first fault, and what is said of it."""
    trees = []
    try:
        for tree in read_trees(path, **options):
            trees.append(tree_to_string(tree))
    except TreebankError as fault:
        return trees, str(fault)
    return trees, ""


def read_with_warnings(read: Callable[[], Any]) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read()
    return found, [str(warning.message) for warning in caught]


@contextmanager
def write_file(file: File) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"trees{file.suffix}"
        path.write_bytes(file.data)
        yield path


@holds_of(st.tuples(draw_files(), OPTIONS), share=10)
def file_is_trees_or_named_faults(
    nlp: Language, case: tuple[File, dict[str, Any]]
) -> None:
    file, options = case
    with write_file(file) as path:
        before, fault = read_until_fault(path, options)
        trees, messages = read_with_warnings(
            lambda: list(read_trees(path, on_error="skip", **options))
        )
        assert_is_named(fault, path, file, messages)
    strings = [tree_to_string(tree) for tree in trees]
    assert strings[: len(before)] == before
    assert fault or len(strings) == len(before)
    for tree, string in zip(trees, strings):
        assert tree.label() == ROOT
        assert tree_to_string(build_tree(*flatten_tree(tree))) == string
        [again] = parse_trees([string])
        assert tree_to_string(clean_tree(again, **options)) == string


def assert_is_named(fault: str, path: Path, file: File, messages: list[str]) -> None:
    """A fault is told with its file and line, and counted where it is skipped."""
    if not fault:
        assert not messages
        return
    place = re.match(rf"{re.escape(str(path))}, line (\d+): .", fault)
    assert place and int(place[1]) > 0
    if file.suffix == ".mrg":
        assert int(place[1]) <= len(re.split(rb"\r\n?|\n", file.data))
    [message] = messages
    count, first = COUNT.search(message).groups()
    assert int(count) > 0 and first == fault


@holds_of(draw_files(), share=4)
def conversion_is_whole_or_nothing(nlp: Language, file: File) -> None:
    with write_file(file) as path, redirect_stderr(io.StringIO()):
        output = path.with_suffix(".spacy")
        try:
            convert_treebank([path], output)
        except TreebankError:
            assert list(path.parent.iterdir()) == [path]
        count, _ = read_with_warnings(
            lambda: convert_treebank([path], output, on_error="skip")
        )
        assert sorted(path.parent.iterdir()) == sorted([path, output])
        docs = list(DocBin().from_disk(output).get_docs(nlp.vocab))
    assert len(docs) == count
    for doc in docs:
        assert_is_parse(doc)


@holds_of(draw_saved_docs(), share=4)
def saved_docs_are_read_or_named(nlp: Language, file: File) -> None:
    with write_file(file) as path:
        try:
            assert all(isinstance(doc, Doc) for doc in read_docs(path, Vocab()))
        except ValueError as error:
            assert str(error).startswith(f"{path} is damaged or is not a .spacy file (")
