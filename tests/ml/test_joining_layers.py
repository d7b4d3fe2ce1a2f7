import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from test_embeddings import SHARES_OF_THREE, WIDTH, build, make_docs
from thinc.api import Config, Model, fix_random_seed, set_dropout_rate

# Layers of ours and of spaCy summed, and the paper's encoder above them.
CONFIG = """
[model]
@architectures = "spacy-pointparse.PointingParser.v1"
width = 32
lower_encoder = null
pointing = "biaffine"

[model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[model.tok2vec.embed]
@architectures = "spacy-pointparse.Sum.v1"

[model.tok2vec.embed.*.attributes]
@architectures = "spacy.MultiHashEmbed.v2"
width = 32
attrs = ["NORM", "SHAPE"]
rows = [200, 50]
include_static_vectors = false

[model.tok2vec.embed.*.characters]
@architectures = "spacy-pointparse.CharacterLSTM.v1"
width = 32
character_width = 8

[model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 32
depth = 1
window_size = 1
maxout_pieces = 2

[model.upper_encoder]
@architectures = "spacy-pointparse.SelfAttention.v1"
input_width = 32
width = 64
depth = 2
heads = 2
key_width = 16
feedforward_width = 64
"""


def make_constant(value, width=WIDTH):
    """A layer whose vectors hold one value, and that keeps the gradient it gets."""

    def forward(model, docs, is_train):
        def backprop(d_vectors):
            model.attrs["gradient"] = d_vectors
            return docs

        return [numpy.full((len(doc), width), value, dtype="f") for doc in docs], (
            backprop
        )

    return Model("constant", forward)


def test_sum_adds_its_layers_and_hands_each_the_gradient():
    layers = [make_constant(1), make_constant(10), make_constant(100)]
    docs = make_docs("an owl", "", "owl")
    vectors, backprop = build("Sum", *layers).initialize(X=docs).begin_update(docs)
    assert [array.tolist() for array in vectors] == [
        [[111] * WIDTH] * 2,
        [],
        [[111] * WIDTH],
    ]
    gradient = [array + 1 for array in vectors]
    assert backprop(gradient) is docs
    found = [layer.attrs["gradient"] for layer in layers]
    assert all(mine is not gradient for mine in found)
    for mine in found:
        assert all(a is b for a, b in zip(mine, gradient, strict=True))


def test_sum_gives_an_empty_doc_the_width_of_any_layer():
    for layers in (
        [make_constant(1, width=0), make_constant(1)],
        [make_constant(1), make_constant(1, width=0)],
    ):
        [vectors] = build("Sum", *layers).predict(make_docs(""))
        assert vectors.shape == (0, WIDTH)


def test_sum_leaves_the_vectors_of_its_layers_alone():
    kept = numpy.ones((2, WIDTH), dtype="f")
    layer = Model("kept", lambda model, docs, is_train: ([kept], lambda d: docs))
    build("Sum", layer, make_constant(5)).predict(make_docs("an owl"))
    assert (kept == 1).all()


def test_sum_refuses_different_widths():
    layers = [make_constant(1), make_constant(1, width=3)]
    with pytest.raises(ValueError, match=r"\[6, 3\]"):
        build("Sum", *layers).initialize(X=make_docs("owl"))


def test_concat_joins_its_layers_and_hands_each_its_columns():
    layers = [make_constant(1, width=1), make_constant(10, width=2)]
    docs = make_docs("an owl", "", "owl")
    model = build("Concat", *layers).initialize(X=docs)
    assert model.get_dim("nO") == 3
    vectors, backprop = model.begin_update(docs)
    assert [array.tolist() for array in vectors] == [
        [[1, 10, 10]] * 2,
        [],
        [[1, 10, 10]],
    ]
    gradient = [array + [[1, 2, 3]] for array in vectors]
    assert backprop(gradient) is docs
    first, second = (
        [array.tolist() for array in layer.attrs["gradient"]] for layer in layers
    )
    assert first == [[[2]] * 2, [], [[2]]]
    assert second == [[[12, 13]] * 2, [], [[12, 13]]]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_concat_of_no_words(texts):
    model = build("Concat", make_constant(1), make_constant(2))
    model.initialize(X=make_docs("owl"))
    vectors, backprop = model.begin_update(make_docs(*texts))
    assert [array.shape for array in vectors] == [(0, 2 * WIDTH)] * len(texts)
    backprop(vectors)


def test_concat_drops_whole_vectors_of_tokens_in_training_only():
    fix_random_seed(0)
    layers = [make_constant(1, width=2) for _ in range(3)]
    model = build("Concat", *layers).initialize(X=make_docs("owl"))
    set_dropout_rate(model, 0.5)
    docs = make_docs(" ".join(["owl"] * 400))
    [vectors], backprop = model.begin_update(docs)
    assert (vectors[:, ::2] == vectors[:, 1::2]).all()
    shares = vectors[:, ::2]
    assert {tuple(sorted(row)) for row in shares.tolist()} == SHARES_OF_THREE
    assert_allclose((shares > 0).mean(axis=0), 0.5, atol=0.1)
    backprop([numpy.ones_like(vectors)])
    for layer, share in zip(layers, shares.T):
        assert_allclose(layer.attrs["gradient"][0], numpy.vstack([share, share]).T)
    assert (model.predict(docs)[0] == 1).all()


def test_concat_takes_zeros_for_dropped():
    layers = [make_constant(value, width=2) for value in (1, 0, 1)]
    model = build("Concat", *layers).initialize(X=make_docs("owl"))
    [vectors] = model.predict(make_docs("an owl"))
    assert vectors.tolist() == [[1.5, 1.5, 0, 0, 1.5, 1.5]] * 2


def test_parser_of_summed_embeddings_and_attention_learns_and_is_saved(
    train, make_examples, trees, tmp_path
):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=Config().from_str(CONFIG))
    train(nlp, steps=120)
    nlp.to_disk(tmp_path)
    docs = [example.predicted for example in make_examples(nlp)]
    assert [doc._.parse_string for doc in spacy.load(tmp_path).pipe(docs)] == trees
