import math
import pickle
import re
import subprocess
import sys
import warnings

import numpy
import pytest
import spacy
from nltk import Tree
from numpy.testing import assert_allclose
from properties import assert_is_parse
from spacy.cli._util import app
from spacy.cli.train import train as spacy_train
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, load_model_from_config
from thinc.api import Adam, fix_random_seed
from typer.testing import CliRunner

from spacy_pointparse.tokens import SPANS_KEY
from spacy_pointparse.trees import flatten_tree
from spacy_pointparse.util import batching

OWLS = "(S (NP (NNS Owls)) (VP (VBP hoot)))"
LISTENER = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": 32,
    "upstream": "*",
}
NO_SENTENCES = "without sentence boundaries"


@pytest.fixture(scope="module")
def known(trained_path):
    """A tiny parser that knows the trees by heart, not to be changed."""
    return spacy.load(trained_path)


@pytest.fixture(scope="module")
def golds(known, make_examples):
    """The Docs of the trees."""
    return [example.reference for example in make_examples(known)]


@pytest.fixture(scope="module")
def join(bare):
    """Join Docs to one without annotation."""

    def join(*docs):
        return bare(Doc.from_docs(list(docs), ensure_whitespace=False))

    return join


def parse(nlp, docs):
    return [doc._.parse_string for doc in nlp.pipe(docs)]


def leaves(doc):
    return [leaf for tree in doc._.parse_trees for leaf in tree.leaves()]


def word_texts(doc):
    return [token.text for token in doc if not token.is_space]


def take_gradients(model):
    """Take all gradients that a model has added up, thinc's and torch's."""
    gradients = {}
    for i, node in enumerate(model.walk()):
        for name in node.param_names:
            if node.has_grad(name):
                gradients[i, name] = node.get_grad(name).copy()
                node.set_grad(name, gradients[i, name] * 0)
        for shim in node.shims:
            for name, weight in shim._model.named_parameters():
                if weight.grad is not None:
                    gradients[i, f"torch.{name}"] = weight.grad.numpy().copy()
            shim._model.zero_grad()
    return gradients


# --- labels and initialization ---


@pytest.mark.parametrize(
    "get_examples",
    [None, lambda: None, lambda: [], lambda: [1, 2], lambda: ["(S x)"], [1]],
)
def test_pointing_parser_wrong_get_examples(make_nlp, get_examples):
    parser = make_nlp().get_pipe("pointing_parser")
    with pytest.raises(TypeError, match=r"E930|E978"):
        parser.initialize(get_examples)


def test_pointing_parser_no_labels(config):
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", name="brackets", config=config)
    with pytest.raises(ValueError, match=r"E143.*'brackets'"):
        nlp.initialize()


def test_pointing_parser_no_sample(make_nlp, vocab):
    parser = make_nlp().get_pipe("pointing_parser")
    labels = {"spans": ["", "S"], "unaries": [""], "tags": ["X"]}
    empty = [Example(Doc(vocab), Doc(vocab))]
    with pytest.raises(ValueError, match="E923"):
        parser.initialize(lambda: empty, labels=labels)


def test_pointing_parser_labels_from_data(make_nlp, make_examples):
    nlp = make_nlp()
    lines = [
        "(S (NP (NP (NNS Plums))) (VP (VBP fall) (ADVP (RB here))))",
        "(TOP (SQ (VP (VBD Ate) (NP (PRP it)))) (. ?))",
    ]
    nlp.initialize(lambda: make_examples(nlp, lines))
    parser = nlp.get_pipe("pointing_parser")
    assert parser.labels == ("ADVP", "NP", "S", "SQ", "TOP", "VP")
    assert parser.label_data == {
        "spans": ["", "S", "SQ VP", "TOP", "VP"],
        "unaries": ["", "ADVP", "NP", "NP NP"],
        "tags": [".", "NNS", "PRP", "RB", "VBD", "VBP"],
    }
    for label in parser.labels:
        assert label in nlp.vocab.strings


def test_pointing_parser_labels_do_not_hang_on_the_order(make_nlp, make_examples):
    label_data = []
    for step in (1, -1):
        nlp = make_nlp()
        examples = make_examples(nlp)[::step]
        nlp.initialize(lambda: examples)  # noqa: B023
        label_data.append(nlp.get_pipe("pointing_parser").label_data)
    assert label_data[0] == label_data[1]


def test_pointing_parser_label_data_of_another(known, make_nlp, make_examples):
    label_data = known.get_pipe("pointing_parser").label_data
    nlp = make_nlp()
    parser = nlp.get_pipe("pointing_parser")
    one = make_examples(nlp, [OWLS])
    parser.initialize(lambda: one, nlp=nlp, labels=label_data)
    assert parser.label_data == label_data
    assert parser.model.get_ref("output_layer").get_dim("nO") == len(
        label_data["spans"]
    )
    label_data["spans"].append("CHANGED")
    for other in (parser, known.get_pipe("pointing_parser")):
        assert "CHANGED" not in other.labels


@pytest.mark.parametrize("labels", [["S", "NP"], {"spans": ["S"]}, {}])
def test_pointing_parser_labels_that_are_no_label_data(make_nlp, make_examples, labels):
    nlp = make_nlp()
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"'spans', 'tags', 'unaries'"):
        nlp.get_pipe("pointing_parser").initialize(lambda: examples, labels=labels)


def test_pointing_parser_add_label(make_nlp, make_examples):
    nlp = make_nlp()
    parser = nlp.get_pipe("pointing_parser")
    assert parser.labels == ()
    assert parser.add_label("X-1") == 1
    assert parser.add_label("X-1") == 0
    assert parser.labels == ("X-1",)
    assert "X-1" in nlp.vocab.strings
    with pytest.raises(ValueError, match="E187"):
        parser.add_label(7)
    for label in ("", " ", "S VP", "NP\n"):
        with pytest.raises(ValueError, match="white space"):
            parser.add_label(label)
    examples = make_examples(nlp, [OWLS])
    nlp.initialize(lambda: examples)
    assert parser.labels == ("NP", "S", "VP", "X-1")
    assert parser.add_label("NP") == 0
    with pytest.raises(ValueError, match="E922"):
        parser.add_label("NEW")
    assert parser.labels == ("NP", "S", "VP", "X-1")


def test_pointing_parser_initializes_from_added_labels(make_nlp, make_examples):
    """As spaCy's own components, which then need no examples."""
    nlp = make_nlp()
    parser = nlp.get_pipe("pointing_parser")
    for label in ("S", "NP", "VP"):
        parser.add_label(label)
    nlp.initialize()
    assert parser.label_data == {
        "spans": ["", "S", "NP", "VP"],
        "unaries": ["", "S", "NP", "VP"],
        "tags": [""],
    }
    examples = make_examples(nlp, [OWLS])
    optimizer = Adam(0.01)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    [parsed] = parse(nlp, [examples[0].predicted.copy()])
    assert parsed == "(S (NP (UNK Owls)) (VP (UNK hoot)))"


@pytest.mark.parametrize("label", ["", " ", "NP SBJ", "NP\u00a0SBJ"])
def test_pointing_parser_refuses_gold_labels_that_are_no_label(
    make_nlp, make_examples, label
):
    nlp = make_nlp()
    examples = make_examples(nlp, [OWLS])
    wrong = Span(examples[0].reference, 0, 1, label)
    examples[0].reference.spans["constituents"] += [wrong]
    message = f"must not be empty or hold white space: {label!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        nlp.initialize(lambda: examples)
    nlp.initialize(lambda: make_examples(nlp, [OWLS]))
    assert nlp.get_pipe("pointing_parser").labels == ("NP", "S", "VP")
    with pytest.raises(ValueError, match=re.escape(message)):
        nlp.update(examples)


def test_pointing_parser_no_new_labels_after_initialization(make_nlp, make_examples):
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp, [OWLS]))
    with pytest.raises(ValueError, match="E922"):
        nlp.initialize(lambda: make_examples(nlp))


def test_pointing_parser_initializes_from_one_example(make_nlp, make_examples):
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp, [OWLS]))
    doc = nlp(Doc(nlp.vocab, words=["Owls", "hoot"], sent_starts=[True, False]))
    assert leaves(doc) == ["Owls", "hoot"]


def test_pointing_parser_not_trained(make_nlp):
    nlp = make_nlp()
    with pytest.raises(ValueError) as error:
        nlp("Owls hoot")
    message = str(error.value)
    assert "'pointing_parser' is not trained" in message
    assert "spacy.load(" in message and '"spacy train"' in message
    assert "\n" not in message


def test_pointing_parser_without_any_tags(make_nlp, train, read_doc, bare):
    nlp = make_nlp()
    examples = []
    for line in (OWLS, "(NP (NN tea))"):
        reference = read_doc(line, vocab=nlp.vocab)
        for token in reference:
            token.tag_ = ""
        examples.append(Example(bare(reference), reference))
    train(nlp, examples)
    assert parse(nlp, [eg.predicted.copy() for eg in examples]) == [
        "(S (NP (UNK Owls)) (VP (UNK hoot)))",
        "(NP (UNK tea))",
    ]


def test_pointing_parser_two_in_one_pipeline_do_not_share_labels(config):
    nlp = spacy.blank("en")
    first = nlp.add_pipe("pointing_parser", name="first", config=config)
    second = nlp.add_pipe("pointing_parser", name="second", config=config)
    first.add_label("A")
    assert second.labels == ()


# --- learning ---


def zero_scores(parser, *lengths):
    """Scores for sentences of these lengths that favor nothing."""
    spans, unaries, tags = (len(labels) for labels in parser.label_data.values())
    words = sum(lengths)
    padded = (len(lengths), max(lengths), max(lengths))
    shapes = [padded, padded, (words, spans), (words, unaries), (words, tags)]
    scores = tuple(numpy.zeros(shape, dtype="f") for shape in shapes)
    for head in scores[:2]:
        for i, length in enumerate(lengths):
            head[i, :, length:] = -1e9
    return (*scores, None)


def test_pointing_parser_overfitting(known, trees, golds, bare, train, make_nlp):
    nlp = make_nlp()
    losses = train(nlp)
    assert losses["pointing_parser"] < 1.0
    assert parse(nlp, map(bare, golds)) == trees
    # The same seed makes the same parser: the one on disk.
    twin = known.get_pipe("pointing_parser").model
    for a, b in zip(nlp.get_pipe("pointing_parser").model.walk(), twin.walk()):
        for name in a.param_names:
            assert_allclose(a.get_param(name), b.get_param(name), atol=1e-5)


def test_pointing_parser_evaluates_to_one(known, make_examples):
    scores = known.evaluate(make_examples(known))
    assert scores["spans_constituents_f"] == 1.0
    assert scores["spans_constituents_p"] == 1.0
    assert scores["spans_constituents_r"] == 1.0
    assert scores["constituents_complete"] == 1.0
    assert scores["constituents_tag_acc"] == 1.0


def test_pointing_parser_scores_nothing_without_gold(known, vocab):
    doc = Doc(vocab, words=["Owls", "hoot"], sent_starts=[True, False])
    assert known.evaluate([Example(doc, doc)])["spans_constituents_f"] is None


def pass_disk(nlp, path):
    nlp.to_disk(path / "model")
    return spacy.load(path / "model")


def pass_bytes(nlp, path):
    return load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())


def pass_pickle(nlp, path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize("send", [pass_disk, pass_bytes, pass_pickle])
def test_pointing_parser_saves_all_it_knows(known, golds, bare, trees, tmp_path, send):
    copy = send(known, tmp_path)
    assert copy is not known
    assert parse(copy, map(bare, golds)) == trees
    theirs = copy.get_pipe("pointing_parser")
    assert theirs.label_data == known.get_pipe("pointing_parser").label_data


def test_pointing_parser_component_bytes_without_vocab(known, make_nlp, golds, bare):
    nlp = make_nlp()
    data = known.get_pipe("pointing_parser").to_bytes(exclude=["vocab"])
    nlp.get_pipe("pointing_parser").from_bytes(data, exclude=["vocab"])
    doc = nlp(bare(golds[2]))
    assert doc._.parse_string == "(S (VP (VB Run)))"


def test_pointing_parser_gradients_add_up(make_nlp, make_examples):
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    model = nlp.get_pipe("pointing_parser").model
    update = nlp.get_pipe("pointing_parser").update
    losses = update(examples, sgd=False)
    whole = take_gradients(model)
    halves = {}
    update(examples[:3], sgd=False, losses=halves)
    update(examples[3:], sgd=None, losses=halves)
    parts = take_gradients(model)
    assert parts.keys() == whole.keys()
    thincs = [name for _, name in whole if not name.startswith("torch.")]
    assert min(len(thincs), len(whole) - len(thincs)) > 10
    for key, gradient in whole.items():
        assert numpy.abs(gradient).max() > 0, key
        assert_allclose(parts[key], gradient, atol=1e-4, err_msg=str(key))
    assert halves["pointing_parser"] == pytest.approx(losses["pointing_parser"])


@pytest.fixture
def small(make_nlp, make_examples):
    """A parser with few labels, and an example of two words."""
    nlp = make_nlp()
    parser = nlp.get_pipe("pointing_parser")
    (example,) = make_examples(nlp, ["(S (NP (A x)) (B y))"])
    labels = {"spans": ["", "S"], "unaries": ["", "NP", "VP"], "tags": ["A", "B"]}
    parser.initialize(lambda: [example], nlp=nlp, labels=labels)
    return parser, example


def test_pointing_parser_loss_by_hand(small):
    parser, example = small
    general = numpy.zeros((1, 2, 2), dtype="f")
    general[0, 0, 1] = math.log(3)  # x points at y, as it should: 3/4
    general[0, 1, 1] = math.log(3)  # y points at itself, not at x: 3/4
    tags = numpy.array([[math.log(4), 0], [0, 0]], dtype="f")
    singleton = numpy.zeros((1, 2, 2), dtype="f")
    labels, unaries = numpy.zeros((2, 2), dtype="f"), numpy.zeros((2, 3), dtype="f")
    loss, gradients = parser.get_loss(
        [example], (general, singleton, labels, unaries, tags, None)
    )
    expected = math.log(4 / 3) + math.log(4)  # general
    expected += 2 * math.log(2) + 2 * math.log(2) + 2 * math.log(3)
    expected += math.log(5 / 4) + math.log(2)  # tags
    assert isinstance(loss, float)
    assert loss == pytest.approx(expected, abs=1e-5)
    assert_allclose(gradients[0], [[[0.25, -0.25], [-0.75, 0.75]]], atol=1e-6)
    assert_allclose(gradients[1], [[[-0.5, 0.5], [0.5, -0.5]]], atol=1e-6)
    assert_allclose(gradients[2], [[0.5, -0.5], [0.5, -0.5]], atol=1e-6)
    third = 1 / 3
    assert_allclose(
        gradients[3], [[third, third - 1, third], [third - 1, third, third]], atol=1e-6
    )
    assert_allclose(gradients[4], [[-0.2, 0.2], [0.5, -0.5]], atol=1e-6)


def test_pointing_parser_unknown_labels_have_no_gradient(small, make_examples):
    parser, _ = small
    (example,) = make_examples(spacy.blank("en"), ["(XP (QP (A x)) (C y))"])
    with pytest.warns(match="does not know"):
        loss, gradients = parser.get_loss([example], zero_scores(parser, 2))
    # Known are both pointings, y without a chain over it, and the tag of x.
    expected = 4 * math.log(2) + math.log(3) + math.log(2)
    assert loss == pytest.approx(expected, abs=1e-5)
    assert_allclose(gradients[2], numpy.zeros((2, 2)))
    assert_allclose(gradients[3][0], numpy.zeros(3))
    assert_allclose(gradients[3][1], [1 / 3 - 1, 1 / 3, 1 / 3], atol=1e-6)
    assert_allclose(gradients[4], [[-0.5, 0.5], [0, 0]])


def test_pointing_parser_padding_has_no_gradient(small, make_examples):
    parser, example = small
    (longer,) = make_examples(spacy.blank("en"), ["(S (NP (A x)) (B y) (B z))"])
    _, gradients = parser.get_loss([example, longer], zero_scores(parser, 2, 3))
    *gradients, left = gradients
    assert left is None
    assert [gradient.shape[0] for gradient in gradients] == [2, 2, 5, 5, 5]
    for gradient in gradients[:2]:
        assert_allclose(gradient[0, 2], numpy.zeros(3))
        assert_allclose(gradient[0, :, 2], numpy.zeros(3))
        assert numpy.abs(gradient[1]).min() > 0.3


def test_pointing_parser_single_word_has_no_span_to_label(small, make_examples):
    parser, _ = small
    (example,) = make_examples(spacy.blank("en"), ["(VP (B x))"])
    loss, gradients = parser.get_loss([example], zero_scores(parser, 1))
    assert loss == pytest.approx(math.log(3) + math.log(2), abs=1e-5)
    assert_allclose(gradients[0], [[[0]]])
    assert_allclose(gradients[2], [[0, 0]])
    assert_allclose(gradients[3], [[1 / 3, 1 / 3, 1 / 3 - 1]], atol=1e-6)


def test_pointing_parser_loss_that_is_no_number(small):
    parser, example = small
    weights = parser.model.get_ref("output_layer").get_param("W")
    parser.model.get_ref("output_layer").set_param("W", weights * numpy.nan)
    with pytest.raises(ValueError, match="E910"):
        parser.update([example])


def test_pointing_parser_misaligned_sentence_teaches_nothing(make_nlp, read_doc):
    nlp = make_nlp()
    reference = read_doc(OWLS, "(S (NP (PRP They)) (VP (VBP fly)))", vocab=nlp.vocab)
    words = ["Owlshoot", "They", "fly"]
    predicted = Doc(nlp.vocab, words=words, sent_starts=[True, True, False])
    example = Example(predicted, reference)
    with pytest.warns(UserWarning, match="1 of 2 sentences teach nothing"):
        nlp.initialize(lambda: [example])
    parser = nlp.get_pipe("pointing_parser")
    # Spans "" and S, unaries "", NP and VP, tags NNS, PRP and VBP.
    loss, _ = parser.get_loss([example], zero_scores(parser, 2))
    assert loss == pytest.approx(2 * math.log(2 * 2 * 2 * 3 * 3), abs=1e-5)

    before = parser.model.to_bytes()
    lost = Doc(nlp.vocab, words=["Owlshoot"], sent_starts=[True])
    lost_example = Example(lost, read_doc(OWLS, vocab=nlp.vocab))
    optimizer = Adam(0.1)
    assert parser.update([lost_example], sgd=optimizer) == {"pointing_parser": 0.0}
    assert parser.model.to_bytes() == before
    assert parser.update([example], sgd=optimizer)["pointing_parser"] > 1.0
    assert parser.model.to_bytes() != before


def test_pointing_parser_loss_of_a_batch_is_the_sum(make_nlp, read_doc):
    nlp = make_nlp()
    words = ["Well", "-", "fed", "owls", "hoot"]
    first = read_doc(
        "(S (NP (JJ Well-fed) (NNS owls)) (VP (VBP hoot)))", vocab=nlp.vocab
    )
    second = read_doc("(S (VP (VB Sell) (NP (PRP it))))", vocab=nlp.vocab)
    examples = [
        Example(Doc(nlp.vocab, words=words), first),
        Example(Doc(nlp.vocab, words=["\n", "Sell", "it"]), second),
        Example(Doc(nlp.vocab, words=words), first),
    ]
    nlp.initialize(lambda: examples)
    parser = nlp.get_pipe("pointing_parser")
    losses = [parser.update([eg])["pointing_parser"] for eg in examples]
    assert min(losses) > 1.0
    assert parser.update(examples)["pointing_parser"] == pytest.approx(sum(losses))


def test_pointing_parser_unannotated_doc_teaches_nothing(known, vocab):
    parser = known.get_pipe("pointing_parser")
    doc = Doc(vocab, words=["Owls", "hoot"])
    assert parser.update([Example(doc, doc)]) == {"pointing_parser": 0.0}
    empty = Doc(vocab)
    assert parser.update([Example(empty, empty)]) == {"pointing_parser": 0.0}
    assert parser.update([]) == {"pointing_parser": 0.0}
    with pytest.raises(ValueError, match="Nothing can be learned from these examples"):
        parser.get_loss([Example(doc, doc)], zero_scores(parser, 2))


def test_pointing_parser_losses_add_up(trained, make_examples):
    examples = make_examples(trained)[:2]
    losses = {"pointing_parser": 10.0, "tagger": 1.0}
    updated = trained.get_pipe("pointing_parser").update(examples, losses=losses)
    assert updated is losses
    assert updated["tagger"] == 1.0
    assert 10.0 < updated["pointing_parser"] < 11.0


def test_pointing_parser_update_uses_sentences_of_the_reference(make_nlp, read_doc):
    nlp = make_nlp()
    reference = read_doc(OWLS, "(NP (NN tea))", vocab=nlp.vocab)
    predicted = Doc(nlp.vocab, words=["Owls", "hoot", "tea"])
    example = Example(predicted, reference)
    nlp.initialize(lambda: [example])
    assert not predicted.has_annotation("SENT_START")
    assert nlp.update([example])["pointing_parser"] > 1.0
    parser = nlp.get_pipe("pointing_parser")
    loss, _ = parser.get_loss([example], zero_scores(parser, 2, 1))
    # Pointings of two words, two spans; the chains and tags of three words.
    expected = 4 * math.log(2) + 2 * math.log(2) + 3 * math.log(3) + 3 * math.log(3)
    assert loss == pytest.approx(expected, abs=1e-5)


def test_pointing_parser_update_does_not_change_docs(trained, make_examples):
    parser = trained.get_pipe("pointing_parser")
    (example,) = make_examples(trained, [OWLS])
    parser.update([example])
    assert list(example.predicted.spans) == []
    assert [token.tag_ for token in example.predicted] == ["", ""]


# --- in a pipeline ---


def test_pointing_parser_frozen_is_unchanged(trained, make_examples):
    trained.add_pipe("senter")
    parser = trained.get_pipe("pointing_parser")
    examples = make_examples(trained, [OWLS])
    trained.get_pipe("senter").initialize(lambda: examples, nlp=trained)
    before = parser.model.to_bytes()
    optimizer = trained.resume_training()
    losses = trained.update(examples, sgd=optimizer, exclude=["pointing_parser"])
    assert list(losses) == ["senter"]
    assert parser.model.to_bytes() == before
    assert trained.evaluate(make_examples(trained))["spans_constituents_f"] == 1.0
    trained.update(examples, sgd=optimizer)
    assert parser.model.to_bytes() != before


@pytest.mark.parametrize("annotates", [[], ["sentencizer"]])
def test_pointing_parser_learns_from_sentences_that_are_annotated(
    make_nlp, read_doc, annotates
):
    nlp = make_nlp()
    nlp.add_pipe("sentencizer", first=True)
    # The reference takes for one sentence what the sentencizer takes for two.
    reference = read_doc("(S (S (NN tea)) (. .) (S (NN cup)))", vocab=nlp.vocab)
    example = Example(Doc(nlp.vocab, words=["tea", ".", "cup"]), reference)
    nlp.initialize(lambda: [example])
    loss = nlp.update([example], annotates=annotates)["pointing_parser"]
    assert (loss == 0.0) == bool(annotates)


def test_pointing_parser_trains_on_raw_text_behind_a_sentencizer(make_nlp, read_doc):
    nlp = make_nlp()
    nlp.add_pipe("sentencizer", first=True)
    lines = [
        "(S (NP (NNS Owls)) (VP (VBP hoot)) (. .))",
        "(TOP (NP (JJ Late) (NN tea)) (. .))",
    ]
    reference = read_doc(*lines, vocab=nlp.vocab)
    example = Example(nlp.make_doc("Owls hoot. Late tea. "), reference)
    fix_random_seed(0)
    nlp.initialize(lambda: [example])
    optimizer = Adam(0.01)
    for _ in range(60):
        nlp.update([example], sgd=optimizer, annotates=["sentencizer"])
    assert nlp("Owls hoot. Late tea.")._.parse_string.split("\n") == lines


def test_pointing_parser_sourced_predicts_the_same(known, golds, bare, trees):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("pointing_parser", name="sourced", source=known)
    docs = list(nlp.pipe(map(bare, golds)))
    assert [doc._.parse_string for doc in docs] == trees


def test_pointing_parser_resumed_training_keeps_weights(trained, make_examples):
    parser = trained.get_pipe("pointing_parser")
    before = parser.model.to_bytes()
    optimizer = trained.resume_training()
    assert parser.model.to_bytes() == before
    losses = trained.update(make_examples(trained), sgd=optimizer)
    assert losses["pointing_parser"] < 1.0
    assert parser.model.to_bytes() != before


@pytest.mark.parametrize("frozen", [[], ["pointing_parser"]])
def test_pointing_parser_sourced_is_not_wiped_by_initialization(
    known, trained_path, golds, bare, trees, write_config, frozen
):
    path = write_config(known, training={"frozen_components": frozen})
    config = load_config(path)
    config["components"] = {"pointing_parser": {"source": str(trained_path)}}
    assert parse(init_nlp(config), map(bare, golds)) == trees


def make_listening_nlp(config):
    nlp = spacy.blank("en")
    tok2vec = config["model"]["tok2vec"]
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    model = {**config["model"], "tok2vec": LISTENER}
    nlp.add_pipe("pointing_parser", config={"model": model})
    return nlp


def test_pointing_parser_listener(config, train, golds, bare, trees, tmp_path):
    nlp = make_listening_nlp(config)
    assert nlp.get_pipe("tok2vec").listening_components == ["pointing_parser"]
    losses = train(nlp)
    assert losses["pointing_parser"] < 1.0
    assert losses["tok2vec"] > 0.0
    assert parse(nlp, map(bare, golds)) == trees
    nlp.to_disk(tmp_path / "listening")
    loaded = spacy.load(tmp_path / "listening")
    assert parse(loaded, map(bare, golds)) == trees

    loaded.replace_listeners("tok2vec", "pointing_parser", ["model.tok2vec"])
    loaded.remove_pipe("tok2vec")
    assert parse(loaded, map(bare, golds)) == trees
    loaded.to_disk(tmp_path / "alone")
    alone = spacy.load(tmp_path / "alone")
    assert alone.pipe_names == ["pointing_parser"]
    assert parse(alone, map(bare, golds)) == trees


def test_pointing_parser_teaches_the_tok2vec_it_listens_to(config, make_examples):
    nlp = make_listening_nlp(config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    # spaCy updates the tok2vec with what its listeners sent in the step before.
    for _ in range(2):
        nlp.update(examples, sgd=Adam(0.01))
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before


def test_pointing_parser_takes_tags_as_input(config, train, make_examples):
    config["model"]["tag_head"] = False
    config["model"]["tok2vec"] = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 32,
            "attrs": ["NORM", "TAG"],
            "rows": [100, 100],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": 32,
            "depth": 1,
            "window_size": 1,
            "maxout_pieces": 2,
        },
    }
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=config)
    lines = ["(S (NP (NN time)) (VP (VBZ flies)))", "(NP (NN time) (NNS flies))"]
    examples = make_examples(nlp, lines)
    for example in examples:
        for token, gold in zip(example.predicted, example.reference):
            token.tag_ = gold.tag_
    train(nlp, examples)
    # The words are the same: only the tags can tell.
    assert parse(nlp, [example.predicted.copy() for example in examples]) == lines
    bare = Doc(nlp.vocab, words=["time", "flies"], sent_starts=[True, False])
    assert [token.tag_ for token in nlp(bare)] == ["", ""]
    assert "(UNK time)" in bare._.parse_string


def test_pointing_parser_is_clean_to_analyze_pipes(make_nlp):
    nlp = make_nlp()
    nlp.add_pipe("sentencizer", first=True)
    analysis = nlp.analyze_pipes()
    assert analysis["problems"] == {"sentencizer": [], "pointing_parser": []}
    assert "doc._.parse_string" in analysis["summary"]["pointing_parser"]["assigns"]


# --- predictions ---


def test_pointing_parser_batch_is_single(known, golds, bare, trees):
    single = [known(bare(gold))._.parse_string for gold in golds]
    assert single == trees
    for size in (1, 2, 3, 100):
        docs = known.pipe(map(bare, golds), batch_size=size)
        assert [doc._.parse_string for doc in docs] == trees


@pytest.mark.parametrize("words, pairs", [(1, 10**6), (7, 10**6), (4000, 1)])
def test_pointing_parser_small_batches(
    known, golds, bare, trees, monkeypatch, words, pairs
):
    monkeypatch.setattr(known.get_pipe("pointing_parser"), "max_batch_tokens", words)
    monkeypatch.setattr(batching, "MAX_BATCH_PAIRS", pairs)
    assert parse(known, map(bare, golds)) == trees


def test_pointing_parser_keeps_the_order(known, golds, join, bare, vocab):
    docs = [
        join(golds[1], golds[2], golds[0]),
        Doc(vocab),
        bare(golds[4]),
        join(golds[3], golds[6], golds[4], golds[1]),
        Doc(vocab, words=["\n"], sent_starts=[True]),
        join(golds[2], golds[5]),
    ]
    single = [known(doc.copy())._.parse_string for doc in docs]
    parsed = list(known.pipe([doc.copy() for doc in docs]))
    assert [doc._.parse_string for doc in parsed] == single
    assert [len(parse.split("\n")) for parse in single] == [3, 1, 1, 4, 1, 2]
    assert [leaves(doc) for doc in parsed] == [word_texts(doc) for doc in docs]
    for doc in parsed:
        sentences = [sent for sent in doc.sents if word_texts(sent)]
        trees = doc._.parse_trees
        assert [tree.leaves() for tree in trees] == [word_texts(s) for s in sentences]


def test_pointing_parser_as_tuples(known, golds, bare, trees):
    pairs = [(bare(gold), i) for i, gold in enumerate(golds)]
    parsed = list(known.pipe(pairs, as_tuples=True))
    assert [i for _, i in parsed] == list(range(8))
    assert [doc._.parse_string for doc, _ in parsed] == trees


PROCESSES = """
import multiprocessing
import sys

import spacy
import torch
from spacy.tokens import DocBin

if __name__ == "__main__":
    model, corpus = sys.argv[1:]
    torch.set_num_threads(1)
    multiprocessing.set_start_method("spawn")
    nlp = spacy.load(model)
    docs = list(DocBin().from_disk(corpus).get_docs(nlp.vocab))
    for doc in nlp.pipe(docs, n_process=2, batch_size=2):
        print(doc._.parse_string)
"""


def test_pointing_parser_forked_processes(known, golds, bare, trees):
    docs = known.pipe(map(bare, golds), n_process=2, batch_size=2)
    assert [doc._.parse_string for doc in docs] == trees


def test_pointing_parser_spawned_processes(trained_path, golds, bare, trees, tmp_path):
    DocBin(docs=map(bare, golds)).to_disk(tmp_path / "docs.spacy")
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES, encoding="utf8")
    run = subprocess.run(
        [sys.executable, script, trained_path, tmp_path / "docs.spacy"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.stdout.splitlines() == trees, run.stderr


def test_pointing_parser_fills_empty_tags_only(known, golds, bare):
    doc = bare(golds[0])
    doc[1].tag_ = "MINE"
    doc[1].pos_ = "NOUN"
    known(doc)
    assert [token.tag_ for token in doc] == ["DT", "MINE", "VBZ", "."]
    assert [token.pos_ for token in doc] == ["", "NOUN", "", ""]
    assert doc._.parse_string.startswith("(S (NP (DT The) (MINE otter))")


def test_pointing_parser_overwrites_tags_where_asked(trained, golds, bare, trees):
    assert trained.get_pipe("pointing_parser").overwrite_tags is False
    trained.get_pipe("pointing_parser").overwrite_tags = True
    doc = bare(golds[0])
    for token in doc:
        token.tag_ = "MINE"
    assert trained(doc)._.parse_string == trees[0]


def tag_words(nlp, tag):
    """Let the tokenizer tag all words, as that of Japanese does."""
    tokenize = nlp.tokenizer

    def tokenize_and_tag(text):
        doc = tokenize(text)
        for token in doc:
            token.tag_ = tag
        return doc

    nlp.tokenizer = tokenize_and_tag


def test_pointing_parser_warns_of_tags_that_are_not_its_own(trained):
    tag_words(trained, "名詞")
    with pytest.warns(UserWarning) as caught:
        list(trained.pipe(["Plums!"] * 3))
    messages = [str(w.message) for w in caught if "overwrite_tags" in str(w.message)]
    assert len(messages) == 1
    assert "'pointing_parser'" in messages[0] and "'名詞'" in messages[0]
    trained.get_pipe("pointing_parser").overwrite_tags = True
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*overwrite_tags.*")
        doc = trained("Run")
    assert doc._.parse_string == "(S (VP (VB Run)))"


def test_pointing_parser_does_not_warn_of_tags_that_it_knows(
    trained, golds, bare, make_nlp
):
    tag_words(trained, "NN")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*overwrite_tags.*")
        trained("Plums!")
        doc = bare(golds[0])
        doc[1].tag_, doc[2].tag_ = "MINE", "VBZ"  # no more than half
        trained.get_pipe("pointing_parser")(doc)
        # A parser that has learned no tags has none to offer.
        nlp = make_nlp()
        nlp.get_pipe("pointing_parser").add_label("X")
        nlp.initialize()
        tag_words(nlp, "MINE")
        nlp("Plums!")


def test_pointing_parser_overwrite_tags_is_a_setting(make_nlp):
    parser = make_nlp(overwrite_tags=True, max_length=7).get_pipe("pointing_parser")
    assert parser.overwrite_tags is True
    assert parser.max_length == 7


def test_pointing_parser_settings_are_not_part_of_what_is_learnt(known, make_nlp):
    nlp = make_nlp(overwrite_tags=True, max_length=7, decode_from="probabilities")
    parser = nlp.get_pipe("pointing_parser")
    parser.from_bytes(known.get_pipe("pointing_parser").to_bytes())
    assert parser.overwrite_tags is True
    assert (parser.max_length, parser.decode_from) == (7, "probabilities")
    assert list(parser.cfg) == ["labels"]
    assert parser.label_data == known.get_pipe("pointing_parser").label_data


def test_pointing_parser_parses_again(known, golds, bare, trees):
    doc = bare(golds[1])
    for _ in range(2):
        known(doc)
        assert doc._.parse_string == trees[1]
    assert len(doc.spans[SPANS_KEY]) == len(golds[1].spans[SPANS_KEY])


def test_pointing_parser_predict_does_not_change_docs(known, golds, bare):
    doc = bare(golds[0])
    before = doc.to_bytes()
    known.get_pipe("pointing_parser").predict([doc])
    assert doc.to_bytes() == before


@pytest.mark.parametrize("text", ["", " ", "\n", "\n \n\n"])
def test_pointing_parser_nothing_to_parse(known, text):
    doc = known(text)
    assert doc._.parse_string == ""
    assert list(doc.spans[SPANS_KEY]) == []
    assert [len(doc.spans[SPANS_KEY]) for doc in known.pipe([text, text])] == [0, 0]


def test_pointing_parser_nothing_between_good_texts(known):
    docs = list(known.pipe(["Yes", "", "Run", " ", "Yes"]))
    assert [doc._.parse_string for doc in docs] == [
        "(UH Yes)",
        "",
        "(S (VP (VB Run)))",
        "",
        "(UH Yes)",
    ]


def test_pointing_parser_no_docs(known):
    assert known.get_pipe("pointing_parser").predict([]) == []


def test_pointing_parser_whole_doc_without_sentences(known):
    doc = Doc(known.vocab, words=["Owls", "hoot", ".", "Yes"])
    with pytest.warns(UserWarning, match=NO_SENTENCES) as caught:
        known(doc)
    assert len(caught) == 1
    assert 'Add a component that sets them before the parser, such as "senter"' in str(
        caught[0].message
    )
    assert len(doc._.parse_trees) == 1
    assert leaves(doc) == ["Owls", "hoot", ".", "Yes"]


def test_pointing_parser_one_word_needs_no_sentences(known):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert known("Yes")._.parse_string == "(UH Yes)"


def test_pointing_parser_unseen_words(known, vocab):
    words = ["Floop", "glorps", "数字", "zix-zax", "@#", "!"]
    doc = known(Doc(vocab, words=words, sent_starts=[True, *[False] * 5]))
    assert leaves(doc) == words
    assert set(doc[0:6]._.labels) <= set(known.get_pipe("pointing_parser").labels)
    assert doc[0:6]._.labels != ()


def list_pieces(doc):
    """Where the largest brackets under the root start and end."""
    (sent,) = doc.sents
    return [(child.start, child.end) for child in sent._.children]


def test_pointing_parser_long_sentence_in_pieces(trained):
    trained.get_pipe("pointing_parser").max_length = 100
    words = ["tea", "and", "cups", "of", "it"] * 400
    doc = Doc(trained.vocab, words=words, sent_starts=[True, *[False] * 1999])
    with pytest.warns(UserWarning, match="more than 100 words") as caught:
        trained(doc)
    assert len(caught) == 1
    (tree,) = doc._.parse_trees
    assert tree.label() == "TOP"
    assert leaves(doc) == words
    first = doc.spans[SPANS_KEY][0]
    assert (first.start, first.end, first.label_) == (0, 2000, "TOP")
    pieces = list_pieces(doc)
    assert max(end - start for start, end in pieces) == 100
    assert [end for _, end in pieces] == [*(start for start, _ in pieces[1:]), 2000]
    assert all(token.tag_ for token in doc)


@pytest.mark.parametrize(
    "count, pieces",
    [
        (9, None),
        (10, None),
        (11, [(0, 7), (7, 11)]),
        (17, [(0, 7), (7, 17)]),
        (18, [(0, 7), (7, 17), (17, 18)]),
    ],
)
def test_pointing_parser_around_the_limit(trained, count, pieces):
    trained.get_pipe("pointing_parser").max_length = 10
    words = ["," if i == 6 else "tea" for i in range(count)]
    starts = [True, *[False] * (count - 1)]
    doc = Doc(trained.vocab, words=words, sent_starts=starts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained(doc)
    assert len(caught) == bool(pieces)
    assert leaves(doc) == words
    if pieces:
        assert doc[0:count]._.labels == ("TOP",)
        assert list_pieces(doc) == pieces


def test_pointing_parser_white_space_does_not_count_to_the_limit(trained):
    trained.get_pipe("pointing_parser").max_length = 2
    words = ["tea", "\n", "\n", "cup"]
    doc = Doc(trained.vocab, words=words, sent_starts=[True, False, False, False])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained(doc)
    assert leaves(doc) == ["tea", "cup"]


def test_pointing_parser_limit_of_one_word(trained):
    trained.get_pipe("pointing_parser").max_length = 1
    doc = Doc(trained.vocab, words=["Run", "Yes"], sent_starts=[True, False])
    with pytest.warns(UserWarning, match="more than 1 words"):
        trained(doc)
    assert doc._.parse_string == "(TOP (S (VP (VB Run))) (UH Yes))"


# --- errors in a batch ---


@pytest.fixture
def fragile(trained, monkeypatch):
    """A parser that fails on one Doc, and the failures that its handler was told."""
    parser = trained.get_pipe("pointing_parser")
    predict = parser.predict

    def predict_or_fail(docs):
        docs = list(docs)
        if any(doc.text.strip() == "Run" for doc in docs):
            raise RuntimeError("no running here")
        return predict(docs)

    monkeypatch.setattr(parser, "predict", predict_or_fail)
    failures = []

    def handle(name, proc, docs, error):
        failures.append(([doc.text.strip() for doc in docs], str(error)))

    return trained, handle, failures


def test_pointing_parser_errors_are_raised_by_default(fragile):
    nlp, _, _ = fragile
    with pytest.raises(RuntimeError, match="no running here"):
        list(nlp.pipe(["Yes", "Run"]))
    with pytest.raises(RuntimeError, match="no running here"):
        nlp("Run")


def test_pointing_parser_other_batches_survive(fragile):
    nlp, handle, failures = fragile
    nlp.set_error_handler(handle)
    docs = list(nlp.pipe(["Yes", "Run", "Yes"], batch_size=1))
    assert [doc._.parse_string for doc in docs] == ["(UH Yes)", "(UH Yes)"]
    assert failures == [(["Run"], "no running here")]


def test_pointing_parser_batch_survives_its_bad_member(fragile):
    nlp, handle, failures = fragile
    nlp.set_error_handler(handle)
    docs = list(nlp.pipe(["Yes", "Run", "Yes"], batch_size=3))
    assert [doc._.parse_string for doc in docs] == ["(UH Yes)", "(UH Yes)"]
    assert failures == [(["Run"], "no running here")]


# --- kinds of input that broke others ---


@pytest.mark.parametrize(
    "text",
    [
        # brackets in, around and instead of words
        "The plan(s) of 1999(b) were (not) sound.",
        "Ring (030)555-12 or f(x) now!",
        "She grinned :) but he frowned :( again.",
        "A list [1] of {sets} ( empty ) and -LRB- marks.",
        "( ( ( ) ) )",
        # white space of all kinds
        "\n\nTea is\nserved  now.\n \n Cups\tare\u00a0here. \n",
        "cup \u00a0\u2003 cup\t\t cup",
        "   ",
        "\r\nYes.\r\n\r\nNo.\r\n",
        # words without a shape or with a strange one
        "a soft\u00adhyphen and \u200b alone",
        "wave \U0001f44b\U0001f3fd then \ufe0f and \u200d ends",
        "数字" * 200,
        "the the of was and .",
        "Yes",
        "Zzgrk",
        "Mail owl.tea@example.org or see https://example.org/a_(b) today.",
        "In March， tea was served； cups were not。",
        "she said the tea that the cup held was cold and left " * 4,
    ],
)
def test_pointing_parser_odd_text(splitting, text):
    doc = splitting(text)
    assert_is_parse(doc)
    assert doc.text == text


def test_pointing_parser_bracket_alone_is_its_own_tag(known, golds, bare):
    doc = known(bare(golds[7]))
    assert [doc[2].text, doc[2].tag_] == ["(", "-LRB-"]
    assert doc[2]._.parse_string == "(-LRB- -LRB-)"


def test_pointing_parser_given_words_with_brackets(known):
    words = ["Is", "(this)", "it", "?"]
    doc = Doc(known.vocab, words=words, sent_starts=[True, False, False, False])
    known(doc)
    assert leaves(doc) == words
    assert Tree.fromstring(doc._.parse_string).leaves() == [
        "Is",
        "-LRB-this-RRB-",
        "it",
        "?",
    ]
    assert doc.text == "Is (this) it ? "


def test_pointing_parser_white_space_around_a_sentence(known, golds):
    words = word_texts(golds[1])
    spaced = Doc(
        known.vocab,
        words=["\n", *words, " ", "\n"],
        sent_starts=[True, *[False] * (len(words) + 2)],
    )
    known(spaced)
    assert_is_parse(spaced)
    first = spaced.spans[SPANS_KEY][0]
    assert (first.start, first.end) == (1, len(words) + 1)


def test_pointing_parser_huge_word_before_sentences(known):
    words = ["tea", "contact" * 800, ".", "She", "sold", "the", "boat", ".", "Yes"]
    starts = [i in (0, 3, 8) for i in range(len(words))]
    doc = known(Doc(known.vocab, words=words, sent_starts=starts))
    assert leaves(doc) == words
    # The same with a short word in its place.
    words[1] = "cup"
    short = known(Doc(known.vocab, words=words, sent_starts=starts))
    after = doc._.parse_string.split("\n")[1:]
    assert len(after) == 2
    assert after == short._.parse_string.split("\n")[1:]


def test_pointing_parser_long_sentences_of_one_kind(known):
    for words in (["very"] * 600 + ["good", "."], ["a", "dog", "and"] * 200):
        starts = [True, *[False] * (len(words) - 1), True]
        doc = Doc(known.vocab, words=[*words, "Yes"], sent_starts=starts)
        known(doc)
        trees = [flatten_tree(sent._.parse_tree)[0] for sent in doc.sents]
        assert trees == [words, ["Yes"]]
        assert doc[len(words)]._.parse_string == "(UH Yes)"


# --- spaCy's command line ---


@pytest.fixture
def write_config(tmp_path, trees):
    """Write the training config of a pipeline that reads the trees."""

    def write(nlp, **sections):
        data = tmp_path / "trees.mrg"
        data.write_text("\n".join(trees), encoding="utf8")
        config = nlp.config.copy()
        reader = {"@readers": "spacy-pointparse.Corpus.v1", "path": str(data)}
        config["corpora"] = {"train": reader, "dev": reader}
        config["training"]["max_steps"] = 2
        config["training"]["eval_frequency"] = 1
        for section, values in sections.items():
            config[section].update(values)
        config.to_disk(tmp_path / "config.cfg")
        return tmp_path / "config.cfg"

    return write


def run_spacy(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_pointing_parser_init_labels(make_nlp, write_config, known, tmp_path):
    label_data = known.get_pipe("pointing_parser").label_data
    run_spacy("init", "labels", write_config(make_nlp()), tmp_path / "labels")
    path = tmp_path / "labels" / "pointing_parser.json"
    reader = {"@readers": "spacy.read_labels.v1", "path": str(path)}
    initialize = {"components": {"pointing_parser": {"labels": reader}}}
    config = write_config(make_nlp(), initialize=initialize)
    # Of all the trees, none but the first is left to read labels from.
    data = tmp_path / "trees.mrg"
    data.write_text(data.read_text().split("\n")[0], encoding="utf8")
    nlp = init_nlp(load_config(config))
    assert nlp.get_pipe("pointing_parser").label_data == label_data


def test_pointing_parser_debug_config(make_nlp, write_config):
    output = run_spacy("debug", "config", write_config(make_nlp()))
    assert "Config is valid" in output.replace("✔", "")


def test_pointing_parser_spacy_train(make_nlp, write_config, tmp_path):
    optimizer = {"@optimizers": "Adam.v1", "learn_rate": 0.01}
    path = write_config(make_nlp(), training={"max_steps": 40, "optimizer": optimizer})
    spacy_train(path, tmp_path / "output")
    for name in ("model-best", "model-last"):
        nlp = spacy.load(tmp_path / "output" / name)
        assert nlp.meta["performance"]["spans_constituents_f"] > 0.5
        assert leaves(nlp("Owls")) == ["Owls"]


# --- GPU ---


@pytest.mark.gpu
def test_pointing_parser_on_a_gpu(config, train, trees, make_examples, tmp_path):
    spacy.require_gpu()
    try:
        nlp = spacy.blank("en")
        nlp.add_pipe("pointing_parser", config=config)
        losses = train(nlp)
        assert losses["pointing_parser"] < 1.0
        docs = [example.predicted for example in make_examples(nlp)]
        assert parse(nlp, docs) == trees
        nlp.to_disk(tmp_path / "gpu")
    finally:
        spacy.require_cpu()
    nlp = spacy.load(tmp_path / "gpu")
    docs = [example.predicted for example in make_examples(nlp)]
    assert parse(nlp, docs) == trees


def test_parser_learns_trees_from_their_parts(config, train, make_examples, trees):
    """Each bracket is shown in two of three copies of its tree, a unary chain whole or
    not at all."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=config)
    examples = []
    for hidden in range(3):
        for example in make_examples(nlp):
            spans = list(example.reference.spans[SPANS_KEY])
            ranges = sorted({(span.start, span.end) for span in spans})
            example.reference.spans[SPANS_KEY] = [
                span
                for span in spans
                if ranges.index((span.start, span.end)) % 3 != hidden
            ]
            example.reference.spans[SPANS_KEY].attrs["partial"] = True
            examples.append(example)
    train(nlp, examples, steps=80)
    parsed = parse(nlp, [example.predicted for example in make_examples(nlp)])
    assert parsed == trees
