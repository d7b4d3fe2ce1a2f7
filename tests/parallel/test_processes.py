"""Texts come out one for one, parsed or as the error that they made."""

import os
import subprocess
import sys
import time
from multiprocessing import active_children, get_all_start_methods, parent_process
from threading import Thread

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_pointparse.parallel.processes import parse_texts
from spacy_pointparse.tokens import describe

# What a test defines within itself, only a copy of this process has.
forked = pytest.mark.skipif(
    get_all_start_methods()[0] != "fork", reason="processes start anew here"
)


@Language.component("refuse_running")
def refuse_running(doc):
    if doc.text == "Run":
        raise KeyError("no running here")
    return doc


def show(found):
    return found._.parse_string if hasattr(found, "_") else repr(found)


@pytest.mark.parametrize("n_process", [1, 2])
def test_texts_come_out_in_order_beside_those_that_fail(trained, n_process):
    trained.add_pipe("refuse_running", first=True)
    trained.max_length = 20
    trained.batch_size = 3
    texts = ["Yes", "Run", "Yes " * 6, "Yes", "", "Run", "Yes"]
    found = [show(parsed) for parsed in parse_texts(trained, texts, n_process)]
    assert found[2].startswith('ValueError("[E088]')
    refused = "KeyError('no running here')"
    yes = "(UH Yes)"
    assert found[:2] + found[3:] == [yes, refused, yes, "", refused, yes]


@pytest.mark.parametrize("n_process", [1, 2])
def test_texts_are_parsed_as_they_come(trained, n_process):
    trained.batch_size = 2
    taken = []
    texts = (taken.append(i) or "Yes" for i in range(100))
    parsed = parse_texts(trained, texts, n_process)
    next(parsed)
    parsed.close()
    assert len(taken) < (6 if n_process == 1 else 20)


def test_stream_of_processes_is_left_early(trained):
    """Each batch is more than a pipe holds, so that workers wait to send theirs."""
    trained.batch_size = 50
    parsed = parse_texts(trained, ["Yes " * 100] * 500, n_process=2)
    next(parsed)
    workers = set(active_children())
    assert len(workers) == 2
    leaving = Thread(target=parsed.close, daemon=True)
    leaving.start()
    leaving.join(timeout=60)
    assert not leaving.is_alive()
    assert not set(active_children()) & workers


@pytest.mark.parametrize("n_process", [1, 2])
def test_what_was_read_before_reading_failed_is_parsed(trained, n_process):
    def read():
        yield from ["Yes"] * 5
        raise EOFError("cut off")

    parsed = parse_texts(trained, read(), n_process)
    assert [next(parsed)._.parse_string for _ in range(5)] == ["(UH Yes)"] * 5
    with pytest.raises(EOFError, match="cut off"):
        next(parsed)


@pytest.mark.parametrize("n_process", [1, 2])
@pytest.mark.parametrize("own", [object(), {(1, 2): 3}])
def test_docs_that_cannot_be_sent_are_parsed(trained, own, n_process):
    """What is written may still not be read again: keys of several parts."""
    docs = [Doc(trained.vocab, words=["Yes"]) for _ in range(4)]
    docs[2].user_data["own"] = own
    found = [show(parsed) for parsed in parse_texts(trained, docs, n_process)]
    assert found == ["(UH Yes)"] * 4


def test_error_handler_of_the_pipeline_is_back_afterwards(trained):
    trained.add_pipe("refuse_running", first=True)
    list(parse_texts(trained, ["Run"]))
    with pytest.raises(KeyError, match="no running here"):
        list(trained.pipe(["Run"]))


@Language.component("keep_pairs")
def keep_pairs(doc):
    doc.user_data["pairs"] = {(0, 1): doc.text}
    return doc


@pytest.mark.parametrize("n_process", [1, 2])
def test_docs_that_cannot_be_sent_back_are_parsed(n_process):
    nlp = spacy.blank("en")
    nlp.add_pipe("keep_pairs")
    docs = parse_texts(nlp, ["Yes", "No"], n_process)
    pairs = [doc.user_data["pairs"] for doc in docs]
    assert pairs == [{(0, 1): "Yes"}, {(0, 1): "No"}]


@Language.component("count_strings")
def count_strings(doc):
    doc.user_data["strings"] = len(doc.vocab.strings)
    return doc


def test_processes_do_not_keep_the_words_of_all_batches():
    nlp = spacy.blank("en")
    nlp.add_pipe("count_strings")
    nlp.batch_size = 1
    texts = (" ".join(f"{i}x{j}" for j in range(100)) for i in range(100))
    docs = list(parse_texts(nlp, texts, 2))
    strings = [doc.user_data["strings"] for doc in docs]
    assert max(strings) < min(strings) + 1000


@pytest.mark.parametrize("n_process", [0, -2])
def test_number_of_processes_is_checked(n_process):
    with pytest.raises(ValueError, match=f"n_process .* {n_process}"):
        next(parse_texts(spacy.blank("en"), ["Yes"], n_process))


@pytest.mark.parametrize("n_process", [1, pytest.param(2, marks=forked)])
def test_one_that_fails_takes_none_of_its_batch_along(n_process):
    @Language.component("refuse_batches")
    def refuse_batches(doc):
        return doc

    def pipe(docs, **_):
        docs = list(docs)
        if any(doc.text == "Run" for doc in docs):
            raise ValueError(f"no running in {len(docs)}")
        return docs

    refuse_batches.pipe = pipe
    nlp = spacy.blank("en")
    nlp.add_pipe("refuse_batches")
    texts = ["Yes", "No", "Run", "Yes", "Run", "Run", "No"]
    found = [str(parsed) for parsed in parse_texts(nlp, texts, n_process)]
    assert found == [text.replace("Run", "no running in 1") for text in texts]


def test_components_without_a_place_for_handlers_are_no_hindrance():
    """As of spaCy 3.8.18, `set_error_handler` fails on its own parser and ner."""
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("ner")
    ner.add_label("PERSON")
    nlp.initialize()
    [doc, error] = parse_texts(nlp, ["Yes", None])
    assert doc.text == "Yes"
    assert isinstance(error, ValueError)


@forked
@pytest.mark.parametrize("texts", [["Run"] * 5, ["Yes", "Run"] * 5])
def test_death_of_processes_is_named(texts):
    """All die, or one of two, to which every other text goes."""

    @Language.component("die_elsewhere")
    def die_elsewhere(doc):
        if parent_process() and doc.text == "Run":
            time.sleep(0.3)
            os._exit(1)
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("die_elsewhere")
    nlp.batch_size = 1
    parsed = parse_texts(nlp, texts, n_process=2)
    with pytest.raises(ChildProcessError, match="fewer"):
        list(parsed)
    assert not active_children()


LEAVING = """
import os
from multiprocessing import parent_process
import spacy
from spacy.language import Language
from spacy_pointparse.parallel.processes import parse_texts

@Language.component("die_elsewhere")
def die_elsewhere(doc):
    if parent_process() and doc.text == "Run":
        os._exit(1)
    return doc

nlp = spacy.blank("en")
nlp.add_pipe("die_elsewhere")
nlp.batch_size = 50
parsed = parse_texts(nlp, ["Yes " * 1000] * 500 + ["Run"] + ["Yes " * 1000] * 500, 2)
next(parsed)
"""


def run_python(code):
    """Wait for all that hold the output, the processes that the code starts too."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@forked
@pytest.mark.parametrize("end", ["", "list(parsed)"])
def test_python_ends_when_a_stream_is_left_early_or_dies(end):
    """More waits to be parsed than a pipe holds."""
    ended = run_python(LEAVING + end)
    assert ended.returncode == (1 if end else 0)
    assert ("ChildProcessError" in ended.stderr) == bool(end)


KILLED = """
import multiprocessing
import os
import spacy
from spacy_pointparse.parallel.processes import parse_texts

multiprocessing.set_start_method("spawn")
parsed = parse_texts(spacy.blank("en"), ["Yes"] * 5000, 2)
print(next(parsed), len(multiprocessing.active_children()), flush=True)
os._exit(3)
"""


def test_processes_end_with_the_one_that_started_them():
    ended = run_python(KILLED)
    assert (ended.returncode, ended.stdout) == (3, "Yes 2\n")


@pytest.mark.parametrize("n_process", [1, 2])
def test_docs_keep_their_tokens(trained, n_process):
    docs = [Doc(trained.vocab, words=["Run", "Yes"], sent_starts=[True, True])]
    [doc] = parse_texts(trained, docs, n_process)
    assert doc._.parse_string == "(S (VP (VB Run)))\n(UH Yes)"


def test_what_came_of_a_text_is_described(trained):
    doc = trained("Run")
    probability = doc[:]._.probability
    assert describe(doc) == {
        "parse_string": "(S (VP (VB Run)))",
        "constituents": [
            {"start_char": 0, "end_char": 3, "label": label, "probability": probability}
            for label in ("S", "VP")
        ],
    }
    assert describe(KeyError("x")) == {"error": "KeyError: 'x'"}


def test_text_that_a_component_drops_is_named():
    @Language.component("drop_all")
    def drop_all(doc):
        return doc

    drop_all.pipe = lambda docs, **_: iter(())
    nlp = spacy.blank("en")
    nlp.add_pipe("drop_all")
    [found] = parse_texts(nlp, ["Yes"])
    assert "dropped" in str(found)


@Language.component("run_out_of_memory")
def run_out_of_memory(doc):
    if doc.text == "Run":
        raise MemoryError("no room to run")
    return doc


@pytest.mark.parametrize("n_process", [1, 2])
def test_memory_errors_are_raised(n_process):
    nlp = spacy.blank("en")
    nlp.add_pipe("run_out_of_memory")
    with pytest.raises(MemoryError, match="no room to run"):
        list(parse_texts(nlp, ["Yes", "Run", "Yes"], n_process))


def test_memory_errors_in_reading_are_raised_at_once(trained):
    def read():
        yield "Yes"
        raise MemoryError("no room to read")

    with pytest.raises(MemoryError, match="no room to read"):
        next(parse_texts(trained, read()))
