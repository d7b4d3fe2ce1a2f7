import math
import warnings

import numpy
import pytest
import spacy
from nltk import Tree
from numpy.testing import assert_allclose
from samples import score_by_hand
from spacy.tokens import Doc, DocBin
from thinc.api import Adam

from spacy_pointparse.pipeline import inference
from spacy_pointparse.pipeline.inference import score_pointings
from spacy_pointparse.tokens import SPANS_KEY
from spacy_pointparse.trees import flatten_tree

DECODERS = ["greedy", "beam", "exact"]
# Of four words: how likely each points at each other, and is a part by itself.
GENERAL = [
    [0.3, 0.3, 0.2, 0.2],
    [0.3, 0.1, 0.5, 0.1],
    [0.1, 0.4, 0.3, 0.2],
    [0.1, 0.3, 0.2, 0.4],
]
SINGLETON = [0.1, 0.4, 0.8, 0.8]
ONE_LEFT = "(X (X (X (UNK a) (UNK b)) (UNK c)) (UNK d))"
EVEN = "(X (X (UNK a) (UNK b)) (X (UNK c) (UNK d)))"
MIDDLE = "(X (X (UNK a) (X (UNK b) (UNK c))) (UNK d))"
# Of five words, whose best tree a beam of two trees loses.
WIDE = [
    [0.1, 0.1, 0.1, 0.5, 0.2],
    [0.1, 0.1, 0.1, 0.2, 0.5],
    [0.2, 0.2, 0.3, 0.1, 0.2],
    [0.1, 0.4, 0.1, 0.2, 0.2],
    [0.3, 0.1, 0.4, 0.1, 0.1],
]
WIDE_SINGLETON = [0.5, 0.3, 0.6, 0.2, 0.1]


@pytest.fixture(scope="module")
def known(trained_path):
    """A tiny parser that knows the trees by heart, not to be changed."""
    return spacy.load(trained_path)


def parse(nlp, examples):
    return list(nlp.pipe(example.predicted for example in examples))


def make_sentence(nlp, words):
    return Doc(nlp.vocab, words=[*words], sent_starts=[True, *[False] * len(words[1:])])


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("decode_from", ["log_probabilities", "probabilities"])
def test_sure_trees_are_found_by_every_decoder(
    trained_path, make_examples, trees, decoder, decode_from
):
    config = {
        "components.pointing_parser.decoder": decoder,
        "components.pointing_parser.decode_from": decode_from,
    }
    nlp = spacy.load(trained_path, config=config)
    docs = parse(nlp, make_examples(nlp))
    assert [doc._.parse_string for doc in docs] == trees


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({}, EVEN),
        ({"decoder": "exact"}, EVEN),
        ({"decoder": "greedy"}, ONE_LEFT),
        ({"decoder": "beam", "beam_size": 1}, ONE_LEFT),
        ({"decoder": "beam", "beam_size": 2}, EVEN),
        ({"decode_from": "probabilities"}, MIDDLE),
    ],
)
def test_settings_reach_the_decoder(settings, expected):
    nlp = score_by_hand(GENERAL, SINGLETON, **settings)
    assert nlp(make_sentence(nlp, "abcd"))._.parse_string == expected


@pytest.mark.parametrize(
    "settings, pointings",
    [
        ({"decoder": "beam", "beam_size": 1}, (0.2, 0.2, 0.5)),
        ({"decoder": "beam", "beam_size": 10}, (0.2, 0.4, 0.5)),
        ({"beam_size": 1}, (0.2, 0.4, 0.5)),
    ],
)
def test_best_trees_are_exact_or_those_that_the_beam_keeps(settings, pointings):
    nlp = score_by_hand(WIDE, WIDE_SINGLETON, **settings)
    parser = nlp.get_pipe("pointing_parser")
    [[(score, _)]] = parser.find_best(make_sentence(nlp, "abcde"), 1)
    assert score == pytest.approx(sum(map(math.log, pointings)))


def test_words_are_parsed_within_the_budget(trained_path, make_examples, monkeypatch):
    padded = []

    def spy(model, embedded, rows, tags):
        padded.append(len(rows) * max(map(len, rows)))
        return score_pointings(model, embedded, rows, tags)

    monkeypatch.setattr(inference, "score_pointings", spy)
    config = {"components.pointing_parser.max_batch_tokens": 8}
    nlp = spacy.load(trained_path, config=config)
    docs = [example.predicted for example in make_examples(nlp)]
    list(nlp.pipe(docs))
    longest = max(map(len, docs))
    assert max(padded) <= max(8, longest)
    assert 1 < len(padded) < len(docs)


def test_long_sentence_makes_no_other_longer(trained_path, make_examples, monkeypatch):
    batches = []

    def spy(model, embedded, rows, tags):
        batches.append([len(row) for row in rows])
        return score_pointings(model, embedded, rows, tags)

    monkeypatch.setattr(inference, "score_pointings", spy)
    nlp = spacy.load(trained_path)
    docs = [example.predicted for example in make_examples(nlp)] * 3
    alone = [doc._.parse_string for doc in nlp.pipe(doc.copy() for doc in docs)]
    before, batches[:] = list(batches), []
    starts = [True, *[False] * 1999]
    monster = Doc(nlp.vocab, words=["very"] * 2000, sent_starts=starts)
    with pytest.warns(UserWarning, match="more than 1000 words"):
        found = list(nlp.pipe([*docs[:9], monster, *docs[9:]], batch_size=64))
    assert [doc._.parse_string for doc in found if doc is not monster] == alone
    assert batches == [*before, [1000], [1000]]


@pytest.mark.parametrize("length", [1, 2, 999, 1000, 1001, 20_000])
def test_sentence_of_any_length_is_one_tree(trained_path, length):
    nlp = spacy.load(trained_path)
    starts = [True, *[False] * (length - 1)]
    doc = Doc(nlp.vocab, words=["tea"] * length, sent_starts=starts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        [tree] = nlp(doc)._.parse_trees
    assert flatten_tree(tree)[0] == ["tea"] * length
    # Within the bound it is parsed whole, beyond it in pieces, with a warning.
    told = [w for w in caught if "more than 1000 words" in str(w.message)]
    assert len(told) == (length > 1000)
    if length > 1000:
        pieces = [len(flatten_tree(piece)[0]) for piece in tree]
        assert (tree.label(), len(pieces)) == ("TOP", -(-length // 1000))
        assert max(pieces) == 1000


@pytest.mark.parametrize("setting", ["beam_size", "max_length", "max_batch_tokens"])
def test_settings_must_be_positive(setting):
    with pytest.raises(ValueError, match=f"{setting} must be 1 or more, but is 0"):
        spacy.blank("en").add_pipe("pointing_parser", config={setting: 0})


# --- several trees ---


def test_best_trees_begin_with_the_parse(known, make_examples):
    parser = known.get_pipe("pointing_parser")
    for example in make_examples(known):
        [ranked] = parser.find_best(example.predicted, 3)
        assert SPANS_KEY not in example.predicted.spans
        scores = [score for score, _ in ranked]
        assert scores == sorted(scores, reverse=True)
        assert len({str(tree) for _, tree in ranked}) == len(ranked) == 3
        words = [token.text for token in example.predicted]
        assert all(tree.leaves() == words for _, tree in ranked)
        [best] = known(example.predicted)._.parse_trees
        assert ranked[0][1] == best


def test_best_trees_are_ranked_by_log_probability_however_decoded(
    make_nlp, train, make_examples
):
    nlp = make_nlp(decode_from="probabilities")
    train(nlp, steps=8)
    parser = nlp.get_pipe("pointing_parser")
    doc = make_examples(nlp)[1].predicted
    [ranked] = parser.find_best(doc, 10)
    scores = [score for score, _ in ranked]
    assert scores == sorted(scores, reverse=True)


def test_scores_of_trees_are_probabilities(known, make_examples):
    parser = known.get_pipe("pointing_parser")
    doc = make_examples(known)[0].predicted
    [ranked] = parser.find_best(doc, 100)
    # The best is known by heart.
    assert -0.1 < ranked[0][0] <= 0
    assert sum(math.exp(score) for score, _ in ranked) <= 1 + 1e-5


def test_best_trees_of_a_word_are_all_that_it_can_have(known):
    parser = known.get_pipe("pointing_parser")
    [ranked] = parser.find_best(Doc(known.vocab, words=["Yes"]), 100)
    assert len(ranked) == len(parser.cfg["labels"]["unaries"])
    assert sum(math.exp(score) for score, _ in ranked) == pytest.approx(1)


def test_scores_of_trees_are_made_of_pointings_and_labels(
    make_nlp, make_examples, monkeypatch
):
    """All trees of two words have a probability of 1 together, and all of three what
    the word between gives to the other two: what is left, it points at itself."""
    scored = []

    def spy(*args):
        scored.append(score_pointings(*args))
        return scored[-1]

    monkeypatch.setattr(inference, "score_pointings", spy)
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    totals = []
    for words in (["Yes", "Run"], ["The", "otter", "sleeps"]):
        doc = Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * len(words[1:])])
        [[parses]] = nlp.get_pipe("pointing_parser")._parse([doc], count=10**6)
        totals.append(sum(math.exp(parse.score) for parse in parses))
    middle = scored[1].general[0, 1]
    assert totals[0] == pytest.approx(1, rel=1e-3)
    assert totals[1] == pytest.approx(math.exp(middle[0]) + math.exp(middle[2]), 1e-3)
    assert 0.1 < totals[1] < 0.9


def test_best_trees_differ_in_splits_or_labels(known, make_examples):
    parser = known.get_pipe("pointing_parser")
    for example in make_examples(known):
        [ranked] = parser.find_best(example.predicted, 20)
        shapes = [
            frozenset(bracket[:2] for bracket in flatten_tree(tree)[2])
            for _, tree in ranked
        ]
        assert 1 < len(set(shapes)) < len(shapes)


def test_best_trees_of_several_sentences_and_of_none(known, make_examples):
    parser = known.get_pipe("pointing_parser")
    docs = [example.predicted for example in make_examples(known)[:2]]
    joined = Doc.from_docs(docs, ensure_whitespace=False)
    together = parser.find_best(joined, 2)
    assert [ranked[0][1] for ranked in together] == [
        parser.find_best(doc, 2)[0][0][1] for doc in docs
    ]
    assert parser.find_best(Doc(known.vocab), 2) == []


def test_best_trees_of_a_sentence_in_pieces_are_one(trained_path, make_examples):
    config = {"components.pointing_parser.max_length": 2}
    nlp = spacy.load(trained_path, config=config)
    doc = make_examples(nlp)[0].predicted
    with pytest.warns(UserWarning, match="in pieces"):
        [ranked] = nlp.get_pipe("pointing_parser").find_best(doc, 5)
    [(score, tree)] = ranked
    assert tree.label() == "TOP"
    assert score <= 0


def test_score_of_a_sentence_in_segments_is_that_of_their_trees():
    even = [[0.5, 0.5], [0.5, 0.5]]
    nlp = score_by_hand(even, [0.5, 0.5], (0.2, 0.8), (0.9, 0.1), max_length=2)
    doc = make_sentence(nlp, "abcd")
    with pytest.warns(UserWarning, match="more than 2 words"):
        [[(score, tree)]] = nlp.get_pipe("pointing_parser").find_best(doc, 5)
    assert tree == Tree.fromstring("(TOP (X (UNK a) (UNK b)) (X (UNK c) (UNK d)))")
    # Each has a span with a label and two words without.
    assert score == pytest.approx(2 * math.log(0.8 * 0.9 * 0.9), rel=1e-4)


def test_root_over_segments_is_the_only_one():
    even = [[0.5, 0.5], [0.5, 0.5]]
    nlp = score_by_hand(even, [0.5, 0.5], spans=(0.8, 0.2), max_length=2)
    whole = nlp(make_sentence(nlp, "ab"))
    assert whole._.parse_string == "(TOP (UNK a) (UNK b))"
    with pytest.warns(UserWarning, match="more than 2 words"):
        doc = nlp(make_sentence(nlp, "abcd"))
    assert doc._.parse_string == "(TOP (UNK a) (UNK b) (UNK c) (UNK d))"


def test_best_trees_want_a_trained_parser_and_a_count(known):
    parser = known.get_pipe("pointing_parser")
    with pytest.raises(ValueError, match="count must be 1 or more"):
        parser.find_best(Doc(known.vocab, words=["Yes"]), 0)
    nlp = spacy.blank("en")
    untrained = nlp.add_pipe("pointing_parser")
    with pytest.raises(ValueError, match="not trained"):
        untrained.find_best(nlp.make_doc("Yes"), 1)


def spoil(layer):
    """Make the weights of a layer no numbers."""
    for name in layer.param_names:
        layer.set_param(name, layer.get_param(name) * numpy.nan)
    for shim in layer.shims:
        for weights in shim._model.parameters():
            weights.data.fill_(numpy.nan)


@pytest.mark.parametrize("part", ["tok2vec", "encoder", "pointer", "labeler"])
@pytest.mark.parametrize("index", [0, -1])
def test_weights_that_are_no_numbers_are_named(trained, part, index):
    trained.rename_pipe("pointing_parser", "brackets")
    parser = trained.get_pipe("brackets")
    layers = parser.model.get_ref(part).walk()
    spoil([layer for layer in layers if layer.shims or layer.param_names][index])
    doc = Doc(trained.vocab, words=["Ducks", "swim"], sent_starts=[True, False])
    for call in (
        lambda: parser.predict([doc]),
        lambda: parser.find_best(doc, 1),
        lambda: parser.find_best(doc, 5),
        lambda: trained(doc.copy()),
        lambda: list(trained.pipe([doc.copy(), doc.copy()])),
    ):
        with pytest.raises(ValueError, match=r"'brackets' scores .* not numbers"):
            call()


# --- probabilities ---


def test_probability_of_what_is_known_by_heart(known, make_examples):
    doc = parse(known, make_examples(known))[0]
    [sent] = doc.sents
    for span in sent._.constituents:
        if span._.labels:
            assert 0.9 < span._.probability <= 1
        else:
            assert span._.probability is None


def softmax(scores):
    return numpy.exp(scores) / numpy.exp(scores).sum(axis=-1, keepdims=True)


def test_probability_is_pointing_times_label(known, make_examples):
    """Worked out anew from the scores of the model."""
    doc = make_examples(known)[0].predicted
    parser = known.get_pipe("pointing_parser")
    [[found]] = parser.predict([doc])
    model = parser.model
    rows = numpy.arange(4, dtype="int32")
    # "The otter sleeps .": S over all, NP over the first two.
    targets = numpy.array([3, 0, 3, 0], dtype="int32")
    general, _, labels, *_ = model.predict(([doc], [rows], targets))
    pointing, label = softmax(general[0]), softmax(labels)
    by_span = {
        (start, end): probability
        for (start, end, _), probability in zip(found.constituents, found.probabilities)
    }
    assert_allclose(by_span[0, 4], label[0].max(), rtol=1e-4)
    assert_allclose(by_span[0, 2], pointing[1, 0] * label[1].max(), rtol=1e-4)


def test_probabilities_survive_docbin_and_processes(known, make_examples):
    docs = parse(known, make_examples(known))
    expected = [doc.spans[SPANS_KEY].attrs["scores"].tolist() for doc in docs]
    assert [len(scores) for scores in expected] == [
        len(d.spans[SPANS_KEY]) for d in docs
    ]
    loaded = DocBin(docs=docs).from_bytes(DocBin(docs=docs).to_bytes())
    found = [
        doc.spans[SPANS_KEY].attrs["scores"].tolist()
        for doc in loaded.get_docs(known.vocab)
    ]
    assert found == expected
    bare = [example.predicted for example in make_examples(known)]
    piped = known.pipe(bare, n_process=2)
    found = [doc.spans[SPANS_KEY].attrs["scores"].tolist() for doc in piped]
    for a, b in zip(found, expected):
        assert_allclose(a, b, rtol=1e-4)


def test_probability_is_unknown_where_nobody_said(known, make_examples):
    gold = make_examples(known)[0].reference
    assert gold[:]._.probability is None
    doc = parse(known, make_examples(known))[0]
    assert doc[:]._.probability is not None
    doc.spans[SPANS_KEY].append(doc[0:1])
    assert doc[:]._.probability is None


def test_root_over_pieces_has_no_probability(trained_path, make_examples):
    config = {"components.pointing_parser.max_length": 2}
    nlp = spacy.load(trained_path, config=config)
    with pytest.warns(UserWarning, match="in pieces"):
        [doc] = parse(nlp, make_examples(nlp)[:1])
    assert doc[:]._.labels == ("TOP",)
    assert doc[:]._.probability is None
    assert doc[0:2]._.probability is not None


def test_calibration_lowers_the_trust_in_wrong_constituents(
    trained, make_examples, tmp_path
):
    """Half the gold trees are exchanged for others: about half is right now."""
    wrong = ["(S (NP (DT The)) (VP (NN otter) (VBZ sleeps)) (. .))"]
    examples = make_examples(trained)[:1] + make_examples(trained, wrong)
    before = parse(trained, make_examples(trained))[0][0:2]._.probability
    calibration = trained.get_pipe("pointing_parser").calibrate(examples)
    assert all(SPANS_KEY not in example.predicted.spans for example in examples)
    after = parse(trained, make_examples(trained))[0][0:2]._.probability
    assert after < 0.9 < before
    assert_allclose(calibration.apply(numpy.array([before])), [after], rtol=1e-3)
    trained.to_disk(tmp_path)
    reloaded = spacy.load(tmp_path)
    assert_allclose(
        parse(reloaded, make_examples(reloaded))[0][0:2]._.probability, after, rtol=1e-5
    )


def test_calibration_ends_with_the_weights_it_was_for(trained, make_examples):
    parser = trained.get_pipe("pointing_parser")
    wrong = ["(S (NP (DT The)) (VP (NN otter) (VBZ sleeps)) (. .))"]
    examples = make_examples(trained)[:1] + make_examples(trained, wrong)
    fitted = parser.calibrate(examples)
    parser.update(examples)
    assert parser.calibration == fitted
    parser.update(examples, sgd=Adam(0.001))
    assert parser.calibration == (1, 0)


def test_constituent_found_twice_is_right_once(trained, make_examples):
    [plums] = make_examples(trained, ["(TOP (NP (NNS Plums)) (. !))"])
    parser = trained.get_pipe("pointing_parser")
    [[parse]] = parser.predict([plums.predicted])
    assert parse.constituents == [(0, 2, "TOP"), (0, 1, "NP"), (0, 1, "NP")]
    _, right = parser.get_calibration_pairs([plums])
    assert right.tolist() == [1, 1, 0]


def test_partial_trees_are_no_calibration_pairs(trained, make_examples):
    examples = make_examples(trained)
    parser = trained.get_pipe("pointing_parser")
    assert len(parser.get_calibration_pairs(examples)[0])
    for example in examples:
        example.reference.spans[SPANS_KEY].attrs["partial"] = True
    assert not len(parser.get_calibration_pairs(examples)[0])
