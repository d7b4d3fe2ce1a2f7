"""Texts come out one for one, parsed or as the error that they made."""

import pytest
import spacy
from spacy.language import Language

from spacy_pointparse.stream import parse_texts


@Language.component("refuse_running")
def refuse_running(doc):
    if doc.text == "Run":
        raise KeyError("no running here")
    return doc


def show(found):
    return found._.parse_string if hasattr(found, "_") else repr(found)


def test_texts_come_out_in_order_beside_those_that_fail(trained):
    trained.add_pipe("refuse_running", first=True)
    trained.max_length = 20
    texts = ["Yes", "Run", "Yes " * 6, "Yes", "", "Run", "Yes"]
    found = [show(parsed) for parsed in parse_texts(trained, texts)]
    assert found[2].startswith('ValueError("[E088]')
    refused = "KeyError('no running here')"
    yes = "(UH Yes)"
    assert found[:2] + found[3:] == [yes, refused, yes, "", refused, yes]


def test_texts_are_parsed_as_they_come(trained):
    trained.batch_size = 2
    taken = []
    texts = (taken.append(i) or "Yes" for i in range(6))
    next(parse_texts(trained, texts))
    assert len(taken) < 6


def test_error_handler_of_the_pipeline_is_back_afterwards(trained):
    trained.add_pipe("refuse_running", first=True)
    list(parse_texts(trained, ["Run"]))
    with pytest.raises(KeyError, match="no running here"):
        list(trained.pipe(["Run"]))


def test_error_handlers_of_components_are_back_afterwards(trained):
    def handle(name, pipe, docs, error):
        pass

    parser = trained.get_pipe("pointing_parser")
    parser.set_error_handler(handle)
    list(parse_texts(trained, ["Yes"]))
    assert parser.get_error_handler() is handle


def test_text_that_a_component_drops_is_named():
    @Language.component("drop_all")
    def drop_all(doc):
        return doc

    drop_all.pipe = lambda docs, **_: iter(())
    nlp = spacy.blank("en")
    nlp.add_pipe("drop_all")
    [found] = parse_texts(nlp, ["Yes"])
    assert "dropped" in str(found)
