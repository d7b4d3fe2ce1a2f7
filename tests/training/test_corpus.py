import pytest
import spacy
from samples import BROKEN, LINES, PARSES, parses
from spacy.tokens import DocBin

from spacy_pointparse.tokens import SPANS_KEY
from spacy_pointparse.training.convert import convert_treebank
from spacy_pointparse.training.corpus import create_corpus
from spacy_pointparse.trees import TreebankError


@pytest.fixture
def nlp():
    return spacy.blank("en")


def references(examples):
    return [example.reference for example in examples]


# --- trees as Docs ---


def test_corpus_doc_has_plain_words_tags_sentences_and_trees(read_doc):
    doc = read_doc(*LINES)
    assert [token.text for token in doc][4:10] == ["We", "left", "(", "town", ")", "."]
    assert [token.tag_ for token in doc][4:10] == [
        "PRP",
        "VBD",
        "-LRB-",
        "NN",
        "-RRB-",
        ".",
    ]
    assert [sent.start for sent in doc.sents] == [0, 4, 10]
    assert doc._.parse_string.split("\n") == PARSES


def test_corpus_doc_is_running_text(read_doc):
    assert read_doc(*LINES).text == "The looms hum. We left (town). Geese! "
    comma = "(S (ADVP (RB Now)) (, ,) (NP (PRP I)) (VP (VBP do) (RB n't) (VB care)))"
    assert read_doc(comma).text == "Now, I don't care "


def test_corpus_doc_undoes_escapes_of_words(read_doc):
    doc = read_doc(r"(NP (`` ``) (CD 1\/2) (NN s-RRB-) ('' ''))")
    assert [token.text for token in doc] == ['"', "1/2", "s)", '"']
    assert doc._.parse_string == "(NP (`` \") (CD 1/2) (NN s-RRB-) ('' \"))"


def test_corpus_doc_has_no_words_of_white_space(read_doc):
    doc = read_doc("(S (NP (NN \u00a0)) (VP (VB go) (NP (NN \\u0020) (NN home))))")
    assert [token.text for token in doc] == ["go", "home"]
    assert doc._.parse_string == "(S (VP (VB go) (NP (NN home))))"


# --- the reader ---


def test_corpus_brackets_and_docbin_give_the_same_trees(write, tmp_path, nlp):
    trees = write(*LINES)
    convert_treebank([trees], tmp_path / "trees.spacy")
    from_trees = references(create_corpus(trees)(nlp))
    from_docbin = references(create_corpus(tmp_path / "trees.spacy")(nlp))
    assert parses(from_trees) == parses(from_docbin) == PARSES
    texts = ["The looms hum. ", "We left (town). ", "Geese! "]
    assert [doc.text for doc in from_trees] == texts
    assert [doc.text for doc in from_docbin] == texts
    assert [[t.tag_ for t in doc] for doc in from_trees] == [
        [t.tag_ for t in doc] for doc in from_docbin
    ]


def test_corpus_folder_of_docbins_in_the_order_of_names(write, tmp_path, nlp):
    for name, line in zip("bac", LINES):
        convert_treebank([write(line)], tmp_path / "corpus" / f"{name}.spacy")
    docs = references(create_corpus(tmp_path / "corpus")(nlp))
    assert parses(docs) == [PARSES[1], PARSES[0], PARSES[2]]


def test_corpus_folder_of_two_kinds_is_warned_of(write, tmp_path, nlp):
    convert_treebank([write(LINES[0])], tmp_path / "sub" / "a.spacy")
    (tmp_path / "._a.spacy").touch()
    write(*LINES[1:])
    with pytest.warns(UserWarning, match=r"1 other files are not, .*trees\.mrg"):
        docs = references(create_corpus(tmp_path)(nlp))
    assert parses(docs) == PARSES[:1]


def test_corpus_joins_no_parsed_docs_with_others(write, tmp_path, nlp):
    docs = references(create_corpus(write(*LINES))(nlp))
    docs.insert(1, nlp("Not parsed."))
    DocBin(docs=docs).to_disk(tmp_path / "a.spacy")
    read = references(create_corpus(tmp_path / "a.spacy", sentences_per_doc=2)(nlp))
    assert [SPANS_KEY in doc.spans for doc in read] == [True, False, True]
    assert parses([read[0], read[2]]) == [PARSES[0], "\n".join(PARSES[1:])]


@pytest.mark.parametrize("setting, value", [("sentences_per_doc", 0), ("limit", -1)])
def test_corpus_of_nothing(write, setting, value):
    with pytest.raises(ValueError, match=f"{setting} must be . or more"):
        create_corpus(write(*LINES), **{setting: value})


def test_corpus_is_registered():
    assert spacy.registry.readers.get("spacy-pointparse.Corpus.v1") is create_corpus


def test_corpus_can_be_read_twice(write, nlp):
    corpus = create_corpus(write(*LINES))
    assert len(list(corpus(nlp))) == len(list(corpus(nlp))) == 3


@pytest.mark.parametrize("gold_sentences", [True, False])
@pytest.mark.parametrize("gold_tags", [True, False])
def test_corpus_copies_exactly_what_is_asked(write, nlp, gold_tags, gold_sentences):
    corpus = create_corpus(
        write(*LINES),
        sentences_per_doc=3,
        gold_tags=gold_tags,
        gold_sentences=gold_sentences,
    )
    (example,) = corpus(nlp)
    predicted, reference = example.predicted, example.reference
    assert [t.text for t in predicted] == [t.text for t in reference]
    assert predicted.text == reference.text
    assert predicted.has_annotation("SENT_START") == gold_sentences
    if gold_sentences:
        assert [sent.start for sent in predicted.sents] == [0, 4, 10]
    tags = [t.tag_ for t in reference] if gold_tags else [""] * len(reference)
    assert [t.tag_ for t in predicted] == tags
    assert list(predicted.spans) == []
    for attribute in ("POS", "DEP", "LEMMA", "MORPH", "ENT_IOB"):
        assert not predicted.has_annotation(attribute)


def test_corpus_docbin_leaks_no_gold(write, tmp_path, nlp):
    convert_treebank([write(*LINES)], tmp_path / "x.spacy", sentences_per_doc=3)
    (example,) = create_corpus(tmp_path / "x.spacy", gold_sentences=False)(nlp)
    assert SPANS_KEY in example.reference.spans
    assert list(example.predicted.spans) == []
    assert not example.predicted.has_annotation("TAG")
    assert not example.predicted.has_annotation("SENT_START")


def test_corpus_raw_text_is_cut_by_the_pipeline(write, nlp):
    corpus = create_corpus(
        write("(S (NP (NN Cant)) (VP (VBZ is) (NP (NN a/b)) (. .)))"),
        gold_tokens=False,
    )
    (example,) = corpus(nlp)
    assert [t.text for t in example.reference] == ["Cant", "is", "a/b", "."]
    assert [t.text for t in example.predicted] == [
        t.text for t in nlp.make_doc("Cant is a/b. ")
    ]
    assert len(example.predicted) == 6
    assert not example.predicted.has_annotation("SENT_START")


def test_corpus_gold_tags_need_gold_tokens(write):
    for options in ({"gold_tags": True}, {"tags": "tags.txt"}):
        with pytest.raises(ValueError, match="Tags need gold_tokens"):
            create_corpus(write(*LINES), gold_tokens=False, **options)
    with pytest.raises(ValueError, match="a skipped tree shifts the tags"):
        create_corpus(write(*LINES), tags="tags.txt", on_error="skip")


@pytest.mark.parametrize("sentences_per_doc", [1, 3])
def test_corpus_of_partial_trees_says_so(write, nlp, tmp_path, sentences_per_doc):
    trees = write("(TOP (DT The) (NP (NNS looms)) (VBP hum))", *LINES[1:])
    convert_treebank([trees], tmp_path / "partial.spacy", partial=True)
    corpus = create_corpus(tmp_path / "partial.spacy", sentences_per_doc)
    docs = references(corpus(nlp))
    assert all(doc.spans[SPANS_KEY].attrs["partial"] for doc in docs)
    # The root of the first tree is no bracket: nobody knows what is right there.
    first = docs[0].spans[SPANS_KEY][0]
    assert (first.label_, first.text) == ("NP", "looms")
    whole = create_corpus(trees)(nlp)
    assert not any(
        doc.spans[SPANS_KEY].attrs.get("partial") for doc in references(whole)
    )


TAGS = ["A B C D", "E F G H I J", "K L", ""]


@pytest.mark.parametrize("gold_tags", [True, False])
@pytest.mark.parametrize("sentences_per_doc", [1, 2, 5])
def test_corpus_gives_tags_of_a_file_to_the_predicted_doc(
    write, nlp, sentences_per_doc, gold_tags
):
    options = {"tags": write(*TAGS, name="tags.txt"), "gold_tags": gold_tags}
    corpus = create_corpus(write(*LINES), sentences_per_doc, **options)
    examples = list(corpus(nlp))
    given = [token.tag_ for example in examples for token in example.predicted]
    assert "".join(given) == "ABCDEFGHIJKL"
    gold = [token.tag_ for example in examples for token in example.reference]
    assert gold[:4] == ["DT", "NNS", "VBP", "."]


@pytest.mark.parametrize(
    "lines, message",
    [
        (TAGS[:2], "end of the file of tags: 0 tags for a sentence of 2 words: 'Geese"),
        (
            ["A B C D", "E F"],
            r"tags\.txt:2: 2 tags for a sentence of 6 words: 'We left",
        ),
        ([*TAGS, "M"], r"tags\.txt:5: there are more lines of tags"),
    ],
)
def test_corpus_refuses_tags_that_do_not_fit(write, nlp, lines, message):
    tags = write(*lines, name="tags.txt")
    corpus = create_corpus(write(*LINES), tags=tags)
    with pytest.raises(ValueError, match=message):
        list(corpus(nlp))


def test_corpus_tags_in_other_encodings(write, nlp, tmp_path):
    trees, tags = write(*LINES), tmp_path / "tags.txt"
    tags.write_text("\n".join(TAGS), encoding="utf-8-sig")
    example = next(create_corpus(trees, tags=tags)(nlp))
    assert [token.tag_ for token in example.predicted] == ["A", "B", "C", "D"]
    tags.write_text("\n".join(TAGS).replace("A", "\u00c4"), encoding="latin-1")
    with pytest.raises(ValueError, match=r"tags\.txt is not UTF-8 text: convert it"):
        next(create_corpus(trees, tags=tags)(nlp))


def test_corpus_with_a_limit_reads_as_many_tags(write, nlp):
    tags = write(*TAGS, name="tags.txt")
    examples = list(create_corpus(write(*LINES), tags=tags, limit=1)(nlp))
    assert [token.tag_ for token in examples[0].predicted] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("size, lengths", [(1, [1, 1, 1]), (2, [2, 1]), (9, [3])])
def test_corpus_sentences_per_doc(write, nlp, size, lengths):
    docs = references(create_corpus(write(*LINES), sentences_per_doc=size)(nlp))
    assert [len(list(doc.sents)) for doc in docs] == lengths
    assert "\n".join(parses(docs)).split("\n") == PARSES


@pytest.mark.parametrize("limit, count", [(0, 3), (1, 1), (2, 2), (5, 3)])
def test_corpus_limit(write, nlp, limit, count):
    docs = references(create_corpus(write(*LINES), limit=limit)(nlp))
    assert parses(docs) == PARSES[:count]


def test_corpus_broken_tree_raises_with_its_line(write, nlp):
    corpus = create_corpus(write(LINES[0], BROKEN, LINES[2]))
    with pytest.raises(TreebankError, match=r"trees\.mrg, line 2"):
        list(corpus(nlp))


def test_corpus_broken_trees_are_skipped_and_counted(write, nlp):
    path = write(LINES[0], BROKEN, LINES[1], "(TOP (NP))", LINES[2])
    with pytest.warns(UserWarning, match=r"skipped 2 faulty tree"):
        docs = references(create_corpus(path, on_error="skip")(nlp))
    assert parses(docs) == PARSES


@pytest.mark.parametrize("name", ["no.mrg", "no.spacy", "no/*.mrg"])
def test_corpus_missing_file(tmp_path, nlp, name):
    with pytest.raises(FileNotFoundError, match="no"):
        list(create_corpus(tmp_path / name)(nlp))


# --- unknown words ---
