import json

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_pointparse.__main__ import app
from spacy_pointparse.constituents import KEY
from spacy_pointparse.convert import convert_treebank
from spacy_pointparse.corpus import create_corpus
from spacy_pointparse.trees import TreebankError

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
BROKEN = "(TOP (S (NP (NN oops)) (VP (VB"


@pytest.fixture
def write(tmp_path):
    """Write a treebank of one tree a line."""

    def write(*lines, name="trees.mrg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        return path

    return write


@pytest.fixture
def nlp():
    return spacy.blank("en")


def parses(docs):
    return [doc._.parse_string for doc in docs]


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
    assert KEY in example.reference.spans
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
    with pytest.raises(ValueError, match="gold_tags needs gold_tokens"):
        create_corpus(write(*LINES), gold_tokens=False, gold_tags=True)


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


# --- the converter ---


def convert(write, tmp_path, *lines, **options):
    output = tmp_path / "out.spacy"
    count = convert_treebank([write(*lines)], output, **options)
    docs = list(DocBin().from_disk(output).get_docs(spacy.blank("en").vocab))
    return count, docs


def test_convert_counts_sentences(write, tmp_path):
    count, docs = convert(write, tmp_path, *LINES, sentences_per_doc=2)
    assert count == 3
    assert [doc._.parse_string for doc in docs] == ["\n".join(PARSES[:2]), PARSES[2]]


def test_convert_reads_several_inputs_in_order(write, tmp_path):
    paths = [write(line, name=f"{i}.mrg") for i, line in enumerate(LINES)]
    convert_treebank([paths[2], paths[0]], tmp_path / "out.spacy")
    docs = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab)
    assert parses(docs) == [PARSES[2], PARSES[0]]


def test_convert_relabel_renames_phrases_but_not_tags(write, tmp_path):
    line = "(TOP (NP (NML (NN tea) (NML cup)) (NN lid)))"
    _, (doc,) = convert(write, tmp_path, line, relabel={"NML": "NP"})
    assert doc._.parse_string == "(NP (NP (NN tea) (NML cup)) (NN lid))"


def test_convert_unwrap_takes_labels_off_whole_sentences(write, tmp_path):
    _, docs = convert(
        write,
        tmp_path,
        "(TOP (CAP (TIT (S (NP (NN tea)) (VP (VBZ is))))))",
        "(TOP (CAP (NP (NN tea)) (CAP (NP (NN cup)) (. .))))",
        "(TOP (CAP tea))",
        "(TOP (S (CAP (NN tea)) (VP (VBZ is))))",
        unwrap=["CAP", "TIT"],
    )
    assert parses(docs) == [
        "(S (NP (NN tea)) (VP (VBZ is)))",
        "(TOP (NP (NN tea)) (CAP (NP (NN cup)) (. .)))",
        "(CAP tea)",
        "(S (CAP (NN tea)) (VP (VBZ is)))",
    ]


def test_convert_limit_draws_the_same_sentences_in_their_order(write, tmp_path):
    lines = [f"(NP (NN n{i}))" for i in range(20)]
    count, first = convert(write, tmp_path, *lines, limit=5)
    _, second = convert(write, tmp_path, *lines, limit=5)
    words = [int(doc[0].text[1:]) for doc in first]
    assert count == len(words) == 5
    assert words == sorted(words) != list(range(5))
    assert words == [int(doc[0].text[1:]) for doc in second]
    assert convert(write, tmp_path, *lines, limit=30)[0] == 20


def test_convert_passes_options_to_the_reader(write, tmp_path):
    _, (doc,) = convert(write, tmp_path, LINES[0], keep_functions=True)
    assert doc[0:2]._.labels == ("NP-SBJ",)


def read_words(path):
    docs = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
    return [doc[0].text for doc in docs]


def test_convert_split_of_a_folder_is_a_list_of_documents(write, tmp_path):
    for name in ("a", "b.x", "c"):
        tree = f"(NP (NN {name[0]}))"
        write(tree, name=f"bank/sub_{name[0]}/{name}.mrg")
    write("c", "a", name="bank/train.txt")
    write("b", name="bank/more.txt")
    output = tmp_path / "out.spacy"
    assert convert_treebank([tmp_path / "bank"], output, split="train") == 2
    assert read_words(output) == ["c", "a"]
    convert_treebank([tmp_path / "bank"], output, split="more")
    assert read_words(output) == ["b"]


def test_convert_missing_document_is_named(write, tmp_path):
    write(LINES[0], name="bank/a.mrg")
    write("a", "zebra", "yak", name="bank/dev.txt")
    with pytest.raises(FileNotFoundError, match=r"2 documents.*dev\.txt.*'zebra'"):
        convert_treebank([tmp_path / "bank"], tmp_path / "o.spacy", split="dev")
    assert not (tmp_path / "o.spacy").exists()


def test_convert_split_of_a_folder_is_a_file(write, tmp_path):
    write("(NP (NN t))", name="bank/train.mrg")
    write("(NP (NN d))", name="bank/dev.mrg")
    output = tmp_path / "out.spacy"
    assert convert_treebank([tmp_path / "bank"], output, split="dev") == 1
    assert read_words(output) == ["d"]
    with pytest.raises(FileNotFoundError, match=r"test\.mrg"):
        convert_treebank([tmp_path / "bank"], output, split="test")


@pytest.mark.parametrize(
    "split, words",
    [
        ("train", [*range(8), *range(10, 18), *range(20, 23)]),
        ("dev", [8, 18]),
        ("test", [9, 19]),
        ("", [*range(23)]),
    ],
)
def test_convert_split_of_a_file_goes_by_tens(write, tmp_path, split, words):
    bank = write(*[f"(NP (NN n{i}))" for i in range(23)])
    output = tmp_path / "out.spacy"
    assert convert_treebank([bank], output, split=split) == len(words)
    assert read_words(output) == [f"n{i}" for i in words]


def test_convert_unknown_split_of_a_file(write, tmp_path):
    with pytest.raises(ValueError, match="train, dev or test, not 'gold'"):
        convert_treebank([write(*LINES)], tmp_path / "o.spacy", split="gold")
    assert not (tmp_path / "o.spacy").exists()


def test_convert_broken_tree_leaves_no_file(write, tmp_path):
    trees = write(*LINES, BROKEN)
    with pytest.raises(TreebankError, match="line 4"):
        convert_treebank([trees], tmp_path / "new" / "out.spacy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trees.mrg"]


def test_convert_broken_tree_leaves_the_old_file(write, tmp_path):
    output = tmp_path / "out.spacy"
    convert_treebank([write(LINES[0])], output)
    before = output.read_bytes()
    with pytest.raises(TreebankError):
        convert_treebank([write(LINES[1], BROKEN)], output)
    assert output.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.spacy", "trees.mrg"]


def test_convert_failed_write_leaves_no_half_file(write, tmp_path, monkeypatch):
    def write_half(self, path):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(DocBin, "to_disk", write_half)
    with pytest.raises(OSError, match="disk full"):
        convert_treebank([write(*LINES)], tmp_path / "out.spacy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trees.mrg"]


# --- the command line ---


@pytest.fixture
def run():
    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def test_cli_without_a_command_shows_the_commands(run):
    result = run()
    for command in ("convert", "score", "evaluate"):
        assert command in result.output


def test_cli_convert(run, write, tmp_path):
    output = tmp_path / "made" / "out.spacy"
    result = run("convert", write(*LINES), "--output", output, "--relabel", "NP=DP")
    assert result.exit_code == 0
    assert f"3 sentences in {output}" in result.stdout
    docs = DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)
    assert parses(docs) == [parse.replace("(NP", "(DP") for parse in PARSES]


def test_cli_convert_broken_tree(run, write, tmp_path):
    output = tmp_path / "out.spacy"
    result = run("convert", write(LINES[0], BROKEN), "-o", output)
    assert result.exit_code == 1
    assert "Error:" in result.stderr and "trees.mrg, line 2" in result.stderr
    assert "Traceback" not in result.output
    assert not output.exists()


def test_cli_convert_skips_broken_trees_where_asked(run, write, tmp_path):
    trees = write(LINES[0], BROKEN, LINES[2])
    with pytest.warns(UserWarning, match="skipped 1 faulty tree"):
        result = run("convert", trees, "-o", tmp_path / "o.spacy", "--on-error", "skip")
    assert result.exit_code == 0
    assert "2 sentences in" in result.stdout


@pytest.mark.parametrize("rename", ["NML", "A=B=C"])
def test_cli_convert_bad_relabel(run, write, tmp_path, rename):
    output = tmp_path / "o.spacy"
    result = run("convert", write(*LINES), "-o", output, "--relabel", rename)
    assert result.exit_code == 1
    assert f"--relabel takes OLD=NEW, not '{rename}'" in result.stderr
    assert not output.exists()


def test_cli_convert_missing_input(run, tmp_path):
    result = run("convert", tmp_path / "nowhere.mrg", "-o", tmp_path / "o.spacy")
    assert result.exit_code == 1
    assert "nowhere.mrg" in result.stderr


def test_cli_convert_needs_an_output(run, write):
    result = run("convert", write(*LINES))
    assert result.exit_code == 2
    assert "--output" in result.stderr


def test_cli_score(run, write):
    gold = write(*LINES, name="gold.mrg")
    right = run("score", gold, gold)
    assert right.exit_code == 0
    assert "Bracketing FMeasure       = 100.00" in right.stdout
    flat = "(TOP (S (DT The) (NNS looms) (VBP hum) (. .)))"
    half = run("score", gold, write(flat, *LINES[1:], name="pred.mrg"))
    # 3 brackets of the first sentence, 1 of them found; 4 and 1 in the others.
    assert "Bracketing Recall         =  75.00" in half.stdout
    assert "Bracketing Precision      = 100.00" in half.stdout


def test_cli_score_of_differing_files(run, write):
    result = run("score", write(*LINES), write(LINES[0], name="pred.mrg"))
    assert result.exit_code == 1
    assert "Cannot compare 3 gold trees" in result.stderr


def test_cli_score_unknown_setting(run, write):
    result = run("score", write(*LINES), write(*LINES), "--setting", "none")
    assert result.exit_code == 2


def test_cli_evaluate(run, write, trained_path, trees, tmp_path):
    output = tmp_path / "scores" / "scores.json"
    result = run("evaluate", trained_path, write(*trees), "--output", output)
    assert result.exit_code == 0
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["LABELLED F1"] == "100.00"
    assert rows["COMPLETE MATCH"] == "100.00"
    assert rows["TAG ACCURACY"] == "100.00"
    assert rows["REJECTED BY EVALB"] == "0"
    assert json.loads(output.read_text())["spans_constituents_f"] == 1.0


def test_cli_evaluate_raw_text(run, write, trained_path, trees):
    # No component sets sentences: the text of two sentences is parsed as one.
    with pytest.warns(UserWarning, match="without sentence boundaries"):
        result = run(
            "evaluate",
            trained_path,
            write(*trees[:2]),
            "--raw-text",
            "--sentences-per-doc",
            "2",
        )
    assert result.exit_code == 0
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["COMPLETE MATCH"] == "0.00"


def test_cli_evaluate_gold_tags_of_raw_text(run, write, trained_path, trees):
    data = write(*trees)
    result = run("evaluate", trained_path, data, "--raw-text", "--gold-tags")
    assert result.exit_code == 1
    assert "gold_tags needs gold_tokens" in result.stderr


@pytest.mark.parametrize("what", ["model", "data"])
def test_cli_evaluate_missing_input(run, write, trained_path, tmp_path, what):
    paths = {"model": trained_path, "data": write(*LINES), what: tmp_path / "gone"}
    result = run("evaluate", paths["model"], paths["data"])
    assert result.exit_code == 1
    assert "gone" in result.stderr
    assert "Traceback" not in result.output
