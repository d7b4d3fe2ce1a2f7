"""Trained parsers become one, and nothing of them is lost."""

import pytest
import spacy
from samples import parses
from spacy.util import load_config
from thinc.api import Config, fix_random_seed

from spacy_pointparse.pipeline.join_parsers import join_parsers


@pytest.fixture
def other(config, train):
    """A parser of the same treebank that came of another seed, and knows less."""
    fix_random_seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=config)
    train(nlp, steps=10)
    return nlp


def get_parser(nlp):
    return nlp.get_pipe("pointing_parser")


def get_members(nlp):
    model = get_parser(nlp).model
    return [layer.to_bytes() for layer in model.layers]


def rank(nlp, docs):
    return [get_parser(nlp).find_best(doc, 4) for doc in docs]


def copy_docs(nlp, make_examples):
    return [example.predicted for example in make_examples(nlp)]


def test_members_keep_their_weights_and_survive_disk(
    trained, other, make_examples, tmp_path
):
    apart = [get_parser(nlp).model.to_bytes() for nlp in (trained, other)]
    before = rank(trained, copy_docs(trained, make_examples))
    joined = join_parsers([trained, other])
    assert joined is trained
    assert get_members(joined) == apart
    docs = copy_docs(joined, make_examples)
    assert rank(joined, docs) != before
    joined.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert get_parser(again).label_data == get_parser(other).label_data
    assert rank(again, copy_docs(again, make_examples)) == rank(joined, docs)


def test_parser_joined_to_itself_is_itself(trained_path, make_examples, trees):
    nlp = spacy.load(trained_path)
    docs = copy_docs(nlp, make_examples)
    before = rank(nlp, docs)
    joined = join_parsers([nlp, spacy.load(trained_path)])
    assert parses(joined.pipe(doc.copy() for doc in docs)) == trees
    for ours, own in zip(rank(joined, docs), before, strict=True):
        assert [tree for [(_, tree), *_] in ours] == [tree for [(_, tree), *_] in own]
        assert ours[0][0][0] == pytest.approx(own[0][0][0], abs=1e-4)


def test_joined_parser_is_joined_to_more(trained, other, trained_path):
    apart = [get_parser(nlp).model.to_bytes() for nlp in (trained, other)]
    joined = join_parsers([trained, other])
    joined = join_parsers([spacy.load(trained_path), joined])
    assert get_members(joined) == [apart[0], *apart]


def test_other_components_and_settings_are_those_of_the_first(
    trained_path, other, tmp_path
):
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", source=spacy.load(trained_path))
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(tmp_path)
    # Settings that name others.
    config = load_config(tmp_path / "config.cfg")
    model = config["components"]["pointing_parser"]["model"]
    config["sizes"] = {"labels": model["label_width"]}
    text = config.to_str().replace(
        f"label_width = {model['label_width']}", "label_width = ${sizes.labels}"
    )
    assert "${sizes.labels}" in text
    text = text.replace("beam_size = 10", "beam_size = 7")
    Config().from_str(text, interpolate=False).to_disk(tmp_path / "config.cfg")
    joined = join_parsers([spacy.load(tmp_path), other])
    assert joined.pipe_names == ["sentencizer", "pointing_parser"]
    assert get_parser(joined).beam_size == 7
    assert joined("Run. Yes.")._.parse_string.count("\n") == 1


def test_parsers_of_different_labels_are_refused(trained, config, train, make_examples):
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=config)
    train(nlp, make_examples(nlp, ["(XP (UH Yes))", "(S (VP (VB Run)))"]), steps=1)
    with pytest.raises(ValueError, match="different labels"):
        join_parsers([trained, nlp])
    assert trained("Run")._.parse_string == "(S (VP (VB Run)))"


def test_parsers_with_different_heads_are_refused(trained, config, train):
    nlp = spacy.blank("en")
    config["model"]["tag_head"] = False
    nlp.add_pipe("pointing_parser", config=config)
    train(nlp, steps=1)
    with pytest.raises(ValueError, match="either all or none"):
        join_parsers([trained, nlp])
    assert trained("Run")._.parse_string == "(S (VP (VB Run)))"


def test_pipeline_without_a_parser_is_refused(trained):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"E001.*'pointing_parser'.*'sentencizer'"):
        join_parsers([trained, nlp])


def test_parser_that_is_not_trained_is_refused(trained, make_nlp):
    with pytest.raises(ValueError, match="is not trained"):
        join_parsers([trained, make_nlp()])


def test_parser_that_listens_is_refused(config, train):
    nlp = spacy.blank("en")
    tok2vec = config["model"]["tok2vec"]
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": tok2vec["width"]}
    model = {**config["model"], "tok2vec": listener}
    nlp.add_pipe("pointing_parser", config={**config, "model": model})
    train(nlp, steps=1)
    with pytest.raises(ValueError, match="replace_listeners"):
        join_parsers([nlp, nlp])
    nlp.replace_listeners("tok2vec", "pointing_parser", ["model.tok2vec"])
    assert len(get_members(join_parsers([nlp, nlp]))) == 2
