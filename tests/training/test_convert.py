import gzip

import pytest
import spacy
from samples import BROKEN, LINES, PARSES, parses
from spacy.tokens import DocBin

from spacy_pointparse.training import convert as convert_module
from spacy_pointparse.training.convert import convert_treebank
from spacy_pointparse.trees import TreebankError


def read_words(path):
    """The first word of each Doc."""
    docs = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
    return [doc[0].text for doc in docs]


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


def test_convert_unwraps_before_it_relabels(write, tmp_path):
    _, docs = convert(
        write,
        tmp_path,
        "(TOP (CAP (TIT (NN tea) (NN cup))))",
        relabel={"CAP": "TIT", "TIT": "NP"},
        unwrap=["CAP"],
    )
    assert parses(docs) == ["(NP (NN tea) (NN cup))"]


def test_convert_limit_is_of_the_split(write, tmp_path):
    lines = [f"(NP (NN n{i}))" for i in range(40)]
    count, docs = convert(write, tmp_path, *lines, split="test", limit=2)
    assert count == len(docs) == 2
    assert {doc[0].text for doc in docs} < {"n9", "n19", "n29", "n39"}


def test_convert_skipped_trees_do_not_count(write, tmp_path):
    with pytest.warns(UserWarning, match="skipped 1 faulty tree"):
        count, docs = convert(write, tmp_path, LINES[0], BROKEN, on_error="skip")
    assert count == 1
    assert parses(docs) == PARSES[:1]


def test_convert_passes_options_to_the_reader(write, tmp_path):
    _, (doc,) = convert(write, tmp_path, LINES[0], keep_functions=True)
    assert doc[0:2]._.labels == ("NP-SBJ",)


# --- splits ---


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


def test_convert_list_of_documents_in_other_encodings(write, tmp_path):
    write("(NP (NN t))", name="bank/\u00e4.mrg")
    listed, output = tmp_path / "bank" / "dev.txt", tmp_path / "o.spacy"
    listed.write_text("\u00e4\r\n", encoding="utf-8-sig")
    assert convert_treebank([tmp_path / "bank"], output, split="dev") == 1
    listed.write_text("\u00e4\n", encoding="latin-1")
    with pytest.raises(
        FileNotFoundError, match=r"1 of the documents listed in .*dev\.txt"
    ):
        convert_treebank([tmp_path / "bank"], output, split="dev")


def test_convert_missing_document_is_named(write, tmp_path):
    write(LINES[0], name="bank/a.mrg")
    write("a", "zebra", "yak", name="bank/dev.txt")
    with pytest.raises(
        FileNotFoundError, match=r"2 of the documents .*dev\.txt.*'zebra'"
    ):
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
    assert read_words(output) == ["d"]


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


def test_convert_split_of_a_glob_goes_by_tens_through_its_files(write, tmp_path):
    for name, start in (("a", 0), ("b", 7)):
        lines = [f"(NP (NN n{i}))" for i in range(start, start + 7)]
        write(*lines, name=f"{name}.mrg")
    output = tmp_path / "out.spacy"
    for split, words in (("dev", ["n8"]), ("test", ["n9"])):
        convert_treebank([tmp_path / "*.mrg"], output, split=split)
        assert read_words(output) == words


def test_convert_without_a_split_takes_all_of_a_folder(write, tmp_path):
    for name in ("train", "dev", "test"):
        write(f"(NP (NN {name}))", name=f"bank/{name}.mrg")
    output = tmp_path / "out.spacy"
    assert convert_treebank([tmp_path / "bank"], output) == 3
    assert sorted(read_words(output)) == ["dev", "test", "train"]


def test_convert_unknown_split_of_a_file(write, tmp_path):
    with pytest.raises(ValueError, match="train, dev or test, not 'gold'"):
        convert_treebank([write(*LINES)], tmp_path / "o.spacy", split="gold")
    assert not (tmp_path / "o.spacy").exists()


def test_convert_names_of_documents_have_dots_and_blanks(write, tmp_path):
    for name in ("ch.1.mrg", "ch.2.mrg", "my doc.brackets", "gz.1.mrg.gz"):
        if name.endswith(".gz"):
            (tmp_path / name).write_bytes(gzip.compress(b"(NP (NN packed))"))
        else:
            write(f"(NP (NN {name.split('.')[-2].split()[0]}))", name=name)
    write("my doc ", "ch.2", "", "gz.1", name="train.txt")
    assert convert_treebank([tmp_path], tmp_path / "o.spacy", split="train") == 3
    assert read_words(tmp_path / "o.spacy") == ["my", "2", "packed"]
    write("ch", name="dev.txt")
    with pytest.raises(ValueError, match=r"may be .*ch\.1\.mrg or .*ch\.2\.mrg"):
        convert_treebank([tmp_path], tmp_path / "o.spacy", split="dev")


@pytest.mark.parametrize("second", ["y/doc.mrg", "x/doc.mrg.bak"])
def test_convert_documents_of_one_name_are_refused(write, tmp_path, second):
    for name in ("x/doc.mrg", second):
        write("(NP (NN tea))", name=name)
    write("doc", name="train.txt")
    message = f"'doc', which may be .*x.doc.mrg or .*{second}"
    with pytest.raises(ValueError, match=message):
        convert_treebank([tmp_path], tmp_path / "o.spacy", split="train")


def test_convert_labels_that_are_not_there_are_named(write, tmp_path):
    options = {"relabel": {"NP-SBJ": "SUBJ", "NP": "N"}, "unwrap": ["TITLE"]}
    with pytest.warns(UserWarning, match="occur nowhere: NP-SBJ, TITLE"):
        _, [doc] = convert(write, tmp_path, "(S (NP-SBJ (NN tea)))", **options)
    assert doc._.parse_string == "(S (N (NN tea)))"


# --- whole or not at all ---


@pytest.mark.parametrize("split", ["", "dev"])
def test_convert_missing_file_is_found_before_anything_is_read(
    write, tmp_path, monkeypatch, split
):
    monkeypatch.setattr(convert_module, "BATCH", 1)
    write(*LINES, name="bank/dev.mrg")
    paths = [tmp_path / "bank", tmp_path / "misspelt"]
    with pytest.raises(FileNotFoundError, match="misspelt"):
        convert_treebank(paths, tmp_path / "o.spacy", split=split)
    assert [path.name for path in tmp_path.iterdir()] == ["bank"]


def test_convert_into_what_is_no_file(write, tmp_path):
    output = tmp_path / "out.spacy"
    output.mkdir()
    with pytest.raises(ValueError, match=r"out\.spacy is not a regular file"):
        convert_treebank([write(*LINES)], output)


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

    trees, output = write(*LINES), tmp_path / "out.spacy"
    with monkeypatch.context() as patch:
        patch.setattr(DocBin, "to_disk", write_half)
        with pytest.raises(OSError, match="disk full"):
            convert_treebank([trees], output)
    assert not output.exists()
    # When there is room again:
    assert convert_treebank([trees], output, resume=True) == len(LINES)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.spacy",
        "trees.mrg",
    ]


def test_convert_goes_on_when_a_full_disk_has_room_again(write, tmp_path, monkeypatch):
    """What was written before the disk was full is not made again."""
    trees, output = write(*LINES), tmp_path / "out.spacy"
    convert_treebank([trees], tmp_path / "whole.spacy")
    monkeypatch.setattr(convert_module, "BATCH", 1)
    made, make_doc = [], convert_module.make_doc

    def make_until_disk_is_full(batch, *arguments):
        if len(made) == 2:
            raise OSError("disk full")
        made.append(batch)
        return make_doc(batch, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(convert_module, "make_doc", make_until_disk_is_full)
        with pytest.raises(OSError, match="disk full"):
            convert_treebank([trees], output)
    with pytest.raises(ValueError, match=r"2 texts in .*out\.spacy\.partial"):
        convert_treebank([trees], output)
    made.clear()
    monkeypatch.setattr(convert_module, "make_doc", make_until_disk_is_full)
    assert convert_treebank([trees], output, resume=True) == len(LINES)
    assert len(made) == 1
    assert output.read_bytes() == (tmp_path / "whole.spacy").read_bytes()


def test_convert_writes_no_other_format(write, tmp_path):
    with pytest.raises(ValueError, match=r"a \.spacy file.*out\.txt"):
        convert_treebank([write(*LINES)], tmp_path / "out.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["trees.mrg"]


def test_convert_docs_of_no_sentences(write, tmp_path):
    output = tmp_path / "out.spacy"
    with pytest.raises(ValueError, match="sentences_per_doc must be 1 or more"):
        convert_treebank([write(*LINES)], output, sentences_per_doc=0)
    with pytest.raises(ValueError, match="limit must be 0 or more"):
        convert_treebank([write(*LINES)], output, limit=-1)


def test_convert_into_the_folder_that_it_reads(write, tmp_path, monkeypatch):
    """What is not done yet is no part of a treebank."""
    monkeypatch.setattr(convert_module, "BATCH", 1)
    for name in ("bank/a", "bank/z"):
        write(*LINES, name=name)
    output = tmp_path / "bank" / "out.spacy"
    assert convert_treebank([tmp_path / "bank"], output) == 2 * len(LINES)
