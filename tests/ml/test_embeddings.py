import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.api import (
    Adam,
    Ragged,
    chain,
    fix_random_seed,
    list2ragged,
    set_dropout_rate,
)

from spacy_pointparse.ml.layers.hash_embed import find_rare_values

WIDTH = 6
# What is left of a token's three vectors stands for all of them.
SHARES_OF_THREE = {(0, 0, 0), (0, 0, 3), (0, 1.5, 1.5), (1, 1, 1)}


def build(name, *layers, **settings):
    return registry.architectures.get(f"spacy-pointparse.{name}.v1")(
        *layers, **settings
    )


def make_docs(*texts):
    return [Doc(Vocab(), words=text.split(" ") if text else []) for text in texts]


@pytest.fixture
def characters():
    fix_random_seed(0)
    return build("CharacterLSTM", width=WIDTH, character_width=4).initialize()


def embed(model, *texts):
    return model.predict(make_docs(*texts))


def test_word_has_the_same_vector_wherever_it_stands(characters):
    first, second, third = embed(characters, "an owl saw an owl", "", "owl")
    assert [len(vectors) for vectors in (first, second, third)] == [5, 0, 1]
    assert first.shape[1] == WIDTH
    numpy.testing.assert_array_equal(first[[0, 1]], first[[3, 4]])
    assert_allclose(first[1], third[0], rtol=1e-5)
    assert_allclose(embed(characters, "owl")[0][0], third[0], rtol=1e-5)


def test_every_character_and_its_place_count(characters):
    vectors = embed(characters, "owl owls Owl wol 猫")[0]
    gaps = numpy.abs(vectors[:, None] - vectors[None]).max(axis=2)
    assert (gaps[~numpy.eye(5, dtype=bool)] > 1e-4).all()


def test_long_word_is_read_at_its_two_ends(characters):
    a, b, c = "x" * 10 + "y" * 10, "x" * 10 + "z" * 4000 + "y" * 10, "x" * 11 + "y" * 10
    vectors = embed(characters, f"{a} {b} {c} {a}y")[0]
    numpy.testing.assert_array_equal(vectors[0], vectors[1])
    assert_allclose(vectors[0], vectors[2], rtol=1e-5)
    other = embed(characters, "x" * 9 + "y" * 11)[0][0]
    assert numpy.abs(other - vectors[0]).max() > 1e-4


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_no_words_are_embedded_as_none(characters, texts):
    vectors, backprop = characters.begin_update(make_docs(*texts))
    assert [array.shape for array in vectors] == [(0, WIDTH)] * len(texts)
    backprop(vectors)


def test_gradient_of_repeated_words_adds_up(characters):
    def get_gradient(*texts):
        vectors, backprop = characters.begin_update(make_docs(*texts))
        backprop([numpy.ones_like(array) for array in vectors])
        shim = characters.layers[0].layers[0].shims[0]
        gradient = shim._model.embed.weight.grad.numpy().copy()
        shim._model.zero_grad()
        return gradient

    twice = get_gradient("owl", "owl")
    assert numpy.abs(twice).max() > 0
    assert_allclose(twice, 2 * get_gradient("owl"), rtol=1e-4, atol=1e-7)


def test_characters_survive_bytes(characters):
    fix_random_seed(1)
    other = build("CharacterLSTM", width=WIDTH, character_width=4)
    other.initialize().from_bytes(characters.to_bytes())
    expected, found = (embed(model, "an owl")[0] for model in (characters, other))
    numpy.testing.assert_array_equal(found, expected)


def learn(layer, docs):
    """Let a layer see Docs in training, without changing its weights."""
    vectors, backprop = layer.begin_update(docs)
    backprop([numpy.zeros_like(array) for array in vectors])
    return vectors


def test_hash_embed_depends_on_its_attribute_only():
    layer = build("HashEmbed", width=WIDTH, attrs=["TAG"], rows=[50]).initialize()
    tags = ["NN", "VB", "NN"]
    docs = [Doc(Vocab(), words=["an", "owl", "saw"], tags=tags), Doc(Vocab())]
    vectors, empty = layer.predict(docs)
    assert (vectors.shape, empty.shape) == ((3, WIDTH), (0, WIDTH))
    numpy.testing.assert_array_equal(vectors[0], vectors[2])
    assert numpy.abs(vectors[0] - vectors[1]).max() > 0
    other = Doc(Vocab(), words=["x", "y"], tags=["VB", "NN"])
    numpy.testing.assert_array_equal(layer.predict([other])[0], vectors[[1, 0]])


def test_hash_embed_sums_its_attributes():
    layer = build("HashEmbed", width=WIDTH, attrs=["ORTH", "TAG"], rows=[50, 20])
    layer.initialize()
    words, tags = ["owl", "owl", "saw", "saw"], ["NN", "VB", "NN", "VB"]
    [vectors] = layer.predict([Doc(Vocab(), words=words, tags=tags)])
    assert_allclose(vectors[0] - vectors[1], vectors[2] - vectors[3], atol=1e-6)
    assert_allclose(vectors[0] - vectors[2], vectors[1] - vectors[3], atol=1e-6)
    assert len(numpy.unique(vectors.round(5), axis=0)) == 4


def test_hash_embed_has_zeros_for_what_it_never_saw_in_training():
    layer = build("HashEmbed", width=WIDTH, attrs=["ORTH", "TAG"], rows=[50, 20])
    layer.initialize()
    docs = [
        Doc(Vocab(), words=words, tags=tags)
        for words, tags in (
            (["owl", "saw"], ["NN", "VB"]),
            (["owl"], ["NN"]),
            (["fox", "owl"], ["NN", "JJ"]),
            (["fox"], ["JJ"]),
        )
    ]
    before = layer.predict(docs)
    assert all(numpy.abs(vectors).min() > 0 for vectors in before)
    learn(layer, docs[:1])
    layer.begin_update([Doc(Vocab())])
    learn(layer, docs[1:2])
    after = layer.predict(docs)
    for number in (0, 1):
        numpy.testing.assert_array_equal(after[number], before[number])
    tag, word = after[2]
    assert_allclose((tag + word) / 2, before[1][0], rtol=1e-5)
    assert not after[3].any()

    other = build("HashEmbed", width=WIDTH, attrs=["ORTH", "TAG"], rows=[50, 20])
    other.initialize().from_bytes(layer.to_bytes())
    for found, expected in zip(other.predict(docs), after, strict=True):
        numpy.testing.assert_array_equal(found, expected)
    layer.initialize()
    assert layer.predict(docs)[3].any()


def test_hash_embed_drops_whole_attributes_of_tokens_in_training_only():
    fix_random_seed(0)
    attrs = ["ORTH", "PREFIX", "TAG"]
    layer = build("HashEmbed", width=WIDTH, attrs=attrs, rows=[50] * 3).initialize()
    docs = make_docs(" ".join(["owl"] * 400))
    learn(layer, docs)
    [whole] = layer.predict(docs)
    set_dropout_rate(layer, 0.5)
    for node in layer.walk():
        if node.name == "hashembed":
            node.attrs["dropout_rate"] = 0.0
    [vectors], backprop = layer.begin_update(docs)
    tables = [node for node in layer.walk() if node.name == "known"]
    features = layer.layers[0].predict(docs)[0][:1]
    parts = numpy.vstack([table.predict(features) for table in tables])
    assert_allclose(whole[0], parts.sum(axis=0), rtol=1e-5)
    shares = numpy.linalg.lstsq(parts.T, vectors.T)[0].T.round(3)
    assert_allclose(shares @ parts, vectors, atol=1e-4)
    assert {tuple(sorted(row)) for row in shares.tolist()} == SHARES_OF_THREE
    assert_allclose((shares > 0).mean(axis=0), 0.5, atol=0.1)
    backprop([numpy.ones_like(vectors)])
    for table, share in zip(tables, shares.T, strict=True):
        gradient = table.layers[1].get_grad("E")
        assert_allclose(gradient.sum(axis=0), 4 * share.sum(), rtol=1e-4)
    numpy.testing.assert_array_equal(layer.predict(docs)[0], whole)


def test_hash_embed_leaves_rare_values_out_in_training_too():
    layer = build("HashEmbed", width=WIDTH, attrs=["ORTH"], rows=[50], min_count=2)
    model = chain(layer, list2ragged()).initialize()
    find_rare_values(model, make_docs("owl fox", "owl"))
    docs = make_docs("owl fox wren")
    [before] = layer.predict(docs)
    expected = before * [[1], [0], [1]]
    [vectors] = learn(layer, docs)  # the wren is new, and seen from now on
    numpy.testing.assert_array_equal(vectors, expected)
    # What is left out teaches nothing.
    [vectors], backprop = layer.begin_update(make_docs("fox fox"))
    backprop([numpy.ones_like(vectors)])
    layer.finish_update(Adam(0.01))
    other = build("HashEmbed", width=WIDTH, attrs=["ORTH"], rows=[50], min_count=2)
    for known in (layer, other.from_bytes(layer.to_bytes())):
        numpy.testing.assert_array_equal(known.predict(docs)[0], expected)


def test_parser_finds_rare_values_in_all_its_training_data(make_examples, config):
    config["model"]["tok2vec"] = {
        "@architectures": "spacy-pointparse.HashEmbed.v1",
        "width": 32,
        "attrs": ["ORTH", "TAG"],
        "rows": [50, 50],
        "min_count": 2,
    }
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("pointing_parser", config=config)
    examples = make_examples(nlp) * 5 + make_examples(nlp, ["(UH Ouch)"])
    nlp.initialize(lambda: examples)
    words, tags = (
        node.attrs["rare"] for node in parser.model.walk() if "rare" in node.attrs
    )
    assert [nlp.vocab.strings[value] for value in words.tolist()] == ["Ouch"]
    assert tags.tolist() == []  # the predicted Docs have no tags, which is one value


def test_hash_embed_of_before_seen_values_were_kept_goes_on_as_it_is():
    layer = build("HashEmbed", width=WIDTH, attrs=["ORTH"], rows=[50]).initialize()
    [known] = [node for node in layer.walk() if "seen" in node.attrs]
    del known.attrs["seen"]
    other = build("HashEmbed", width=WIDTH, attrs=["ORTH"], rows=[50])
    other.from_bytes(layer.to_bytes())
    before = other.predict(make_docs("owl fox"))[0]
    assert before.all()
    learn(other, make_docs("owl"))
    numpy.testing.assert_array_equal(other.predict(make_docs("owl fox"))[0], before)


def test_hash_embed_learns_what_is_new_to_it():
    layer = build("HashEmbed", width=WIDTH, attrs=["ORTH"], rows=[50]).initialize()
    docs = make_docs("owl saw owl")
    [before] = layer.predict(docs)
    [vectors], backprop = layer.begin_update(docs)
    backprop([numpy.ones_like(vectors)])
    layer.finish_update(Adam(0.01))
    [after] = layer.predict(docs)
    assert (after < before).all()


def test_hash_embed_takes_full_width_characters_for_ascii():
    attrs = ["ORTH", "NORM", "PREFIX", "SUFFIX", "SHAPE", "TAG"]
    layer = build("HashEmbed", width=WIDTH, attrs=attrs, rows=[50] * 6).initialize()
    vocab = spacy.blank("en").vocab
    wide = Doc(
        vocab, words=["Owls", "\uff0c", "\uff23up\uff11\uff01"], tags=["A", "B", ""]
    )
    plain = Doc(vocab, words=["Owls", ",", "Cup1!"], tags=["A", "B", ""])
    [wide_vectors], [vectors] = layer.predict([wide]), layer.predict([plain])
    numpy.testing.assert_array_equal(wide_vectors, vectors)
    assert wide.text == "Owls \uff0c \uff23up\uff11\uff01 "
    # Norms that a tokenizer has set stay.
    wide[0].norm_ = plain[0].norm_ = "owlery"
    [wide_vectors], [changed] = layer.predict([wide]), layer.predict([plain])
    numpy.testing.assert_array_equal(wide_vectors, changed)
    assert numpy.abs(changed[0] - vectors[0]).max() > 0


def test_hash_embed_needs_rows_for_each_attribute():
    with pytest.raises(ValueError, match=r"\['NORM', 'TAG'\].*\[50\]"):
        build("HashEmbed", width=WIDTH, attrs=["NORM", "TAG"], rows=[50])


@pytest.fixture
def pretrained():
    """Words with vectors, the cased "Owl" with one of its own."""
    vocab = Vocab()
    vectors = {"owl": [1, 2, -4], "Owl": [0, -2, 4], "an": [0.5, 0, 0]}
    for word, vector in vectors.items():
        vocab.set_vector(word, numpy.array(vector, dtype="f"))
    return vocab


@pytest.fixture
def static(pretrained):
    fix_random_seed(0)
    return build("StaticVectors", width=WIDTH).initialize(
        X=[Doc(pretrained, words=["owl"])]
    )


def project(static, vector):
    """What the layer makes of a vector, with numbers to the nearest of 127 steps up to
    its largest."""
    step = (numpy.abs(vector).max() or 1) / 127
    nearest = numpy.rint(numpy.array([vector]) / step) * step
    return static.layers[0].predict(nearest.astype("f"))[0]


@pytest.mark.parametrize(
    "word, vector",
    [
        ("owl", [1, 2, -4]),
        ("Owl", [0, -2, 4]),
        ("OWL", [1, 2, -4]),
        ("an", [0.5, 0, 0]),
        ("swan", [0, 0, 0]),
    ],
)
def test_word_has_its_own_vector_or_that_of_its_norm(static, word, vector):
    """The Docs have a vocab of their own, which knows no vectors."""
    docs = [Doc(spacy.blank("en").vocab, words=["swan", word])]
    assert_allclose(static.predict(docs)[0][1], project(static, vector), rtol=1e-4)


def test_static_vectors_of_zeros():
    """A vector of zeros has no largest number to scale it by."""
    vocab = Vocab()
    vocab.set_vector("owl", numpy.array([1, 2, -4], dtype="f"))
    vocab.set_vector("nothing", numpy.zeros(3, dtype="f"))
    layer = build("StaticVectors", width=WIDTH)
    with numpy.errstate(all="raise"):
        layer.initialize(X=[Doc(vocab, words=["owl"])])
        [[owl, nothing, unknown]] = layer.predict(make_docs("owl nothing unknown"))
    assert_allclose(nothing, unknown)
    assert numpy.abs(owl - nothing).max() > 0
    assert (layer.attrs["scale"] > 0).all()


@pytest.mark.parametrize("texts", [[], [""], ["", "owl"]])
def test_static_vectors_of_few_words(static, texts):
    vectors, backprop = static.begin_update(make_docs(*texts))
    assert [len(array) for array in vectors] == [len(text) > 0 for text in texts]
    backprop(vectors)


def test_static_vectors_learn_their_projection_only(static):
    docs = make_docs("owl an owl")
    before = static.attrs["table"].copy()
    vectors, backprop = static.begin_update(docs)
    backprop([numpy.ones_like(array) for array in vectors])
    gradient = static.layers[0].get_grad("W")
    assert_allclose(gradient[0], [2.5, 4, -8], atol=3 * 2 / 127)
    static.finish_update(Adam(0.1))
    numpy.testing.assert_array_equal(static.attrs["table"], before)


def test_static_vectors_survive_bytes_without_a_vocab(static):
    other = build("StaticVectors", width=WIDTH).from_bytes(static.to_bytes())
    docs = make_docs("an owl Owl swan")
    numpy.testing.assert_array_equal(other.predict(docs)[0], static.predict(docs)[0])


def test_keys_that_share_a_vector(pretrained):
    pretrained.prune_vectors(2)
    static = build("StaticVectors", width=WIDTH)
    static.initialize(X=[Doc(pretrained, words=["owl"])])
    for word in ("owl", "Owl", "an"):
        expected = project(static, pretrained.get_vector(word))
        found = static.predict(make_docs(word))[0][0]
        assert_allclose(found, expected, rtol=1e-4)


def test_long_vector_leaves_short_ones_their_precision(pretrained):
    pretrained.set_vector("the", numpy.array([400, 0, 0], dtype="f"))
    static = build("StaticVectors", width=3)
    static.initialize(X=[Doc(pretrained, words=["owl"])])
    static.layers[0].set_param("W", numpy.eye(3, dtype="f"))
    [found] = static.predict(make_docs("the owl an"))
    expected = [[400, 0, 0], [1, 2, -4], [0.5, 0, 0]]
    assert_allclose(found, expected, atol=4 / 127 / 2 + 1e-6)


def test_missing_vectors_are_a_clear_error():
    with pytest.raises(ValueError, match=r"initialize\.vectors"):
        build("StaticVectors", width=WIDTH).initialize(X=make_docs("owl"))


def test_vectors_of_subwords_are_a_clear_error():
    vocab = Vocab()
    table = numpy.zeros((50, 3), dtype="f")
    vocab.vectors = Vectors(data=table, mode="floret", minn=2, maxn=3)
    with pytest.raises(ValueError, match="not floret"):
        build("StaticVectors", width=WIDTH).initialize(X=[Doc(vocab, words=["owl"])])


def test_last_piece_of_each_token_and_zeros_where_there_is_none():
    pieces = numpy.arange(12, dtype="f").reshape(4, 3) + 1
    ragged = Ragged(pieces, numpy.array([0, 2, 1, 0, 0, 1], dtype="i"))
    vectors, backprop = build("LastPiece").begin_update(ragged)
    assert [row[0] for row in vectors.tolist()] == [0, 4, 7, 0, 0, 10]
    d_pieces = backprop(vectors)
    assert d_pieces.dataXd[:, 0].tolist() == [0, 4, 7, 10]
    assert d_pieces.lengths is ragged.lengths


def test_last_piece_of_white_space_only():
    ragged = Ragged(numpy.zeros((0, 3), dtype="f"), numpy.zeros(2, dtype="i"))
    vectors, backprop = build("LastPiece").begin_update(ragged)
    assert vectors.tolist() == [[0, 0, 0]] * 2
    assert backprop(vectors).dataXd.shape == (0, 3)
