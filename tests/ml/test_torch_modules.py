from functools import partial

import pytest
import torch
from torch import nn
from torch.autograd import gradcheck
from torch.testing import assert_close

from spacy_pointparse.ml.modules import (
    BiLSTM,
    CharacterLSTM,
    LabelFeatures,
    Pointer,
    SelfAttention,
    mixed_precision,
)
from spacy_pointparse.ml.modules.mixed_precision import has_bfloat16
from spacy_pointparse.ml.modules.padding import pad
from spacy_pointparse.ml.modules.pointer import find_gaps

WIDTH = 6
LENGTHS = [3, 1, 5]
# Rows of all words, in the trees (0 (1 2)), 3, and ((4 5) (6 (7 8))).
TARGETS = torch.tensor([2, 2, 0, 3, 8, 4, 8, 8, 4])
POINTERS = ["gaps", "biaffine", "dot", "query_key"]


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(0)


def make_words(dtype=torch.float32):
    return torch.randn(sum(LENGTHS), WIDTH, dtype=dtype)


MODULES = {
    "bilstm1": (partial(BiLSTM, WIDTH, 8, 1), torch.tensor(LENGTHS)),
    "bilstm2": (partial(BiLSTM, WIDTH, 8, 2), torch.tensor(LENGTHS)),
    "attention": (
        partial(SelfAttention, WIDTH, 8, 2, 2, 4, 12, 4),
        torch.tensor(LENGTHS),
    ),
    "gaps": (partial(Pointer, WIDTH, 4, "gaps"), torch.tensor(LENGTHS)),
    "biaffine": (partial(Pointer, WIDTH, 4, "biaffine"), torch.tensor(LENGTHS)),
    "dot": (partial(Pointer, WIDTH, 4, "dot"), torch.tensor(LENGTHS)),
    "query_key": (partial(Pointer, WIDTH, 4, "query_key"), torch.tensor(LENGTHS)),
    "ends": (partial(LabelFeatures, WIDTH, 4, "ends"), TARGETS),
    "word": (partial(LabelFeatures, WIDTH, 4, "word"), TARGETS),
}
every_module = pytest.mark.parametrize("make, rows", MODULES.values(), ids=MODULES)


def as_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def test_pad_lays_out_one_sentence_a_row():
    words = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    padded, mask = pad(words, torch.tensor([1, 3]))
    assert padded.tolist() == [[[1.0], [0.0], [0.0]], [[2.0], [3.0], [4.0]]]
    assert mask.tolist() == [[True, False, False], [True, True, True]]
    assert torch.equal(padded[mask], words)


@every_module
def test_mixed_precision_takes_and_gives_single_precision(make, rows):
    module, words = make(), make_words().requires_grad_()
    results = []
    for module.mixed_precision in (False, True):
        outputs = as_tuple(module(words, rows))
        [gradient] = torch.autograd.grad(outputs[0].clamp(min=-1e3).sum(), words)
        results.append((*outputs, gradient))
    for single, mixed in zip(*results):
        assert mixed.dtype == torch.float32
        assert torch.equal(single, mixed) != has_bfloat16("cpu")
        assert_close(single, mixed, atol=0.05, rtol=0.05)


@every_module
def test_devices_without_bfloat16_compute_in_single_precision(make, rows, monkeypatch):
    monkeypatch.setattr(mixed_precision, "has_bfloat16", lambda device: device != "cpu")
    module, words = make(), make_words()
    results = []
    for module.mixed_precision in (False, True):
        results.append(as_tuple(module(words, rows)))
    for single, mixed in zip(*results):
        assert torch.equal(single, mixed)


def test_bfloat16_is_tried_without_moving_the_seed(monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("could not create a primitive")

    has_bfloat16.cache_clear()
    state = torch.random.get_rng_state()
    able = has_bfloat16("cpu")
    assert torch.equal(torch.random.get_rng_state(), state)
    has_bfloat16.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(nn.LSTM, "forward", refuse)
        assert not has_bfloat16("cpu")
    has_bfloat16.cache_clear()
    assert has_bfloat16("cpu") == able


@every_module
def test_module_shapes(make, rows):
    shapes = [tuple(out.shape) for out in as_tuple(make()(make_words(), rows))]
    expected = {
        BiLSTM: [(9, 8)],
        SelfAttention: [(9, 8)],
        Pointer: [(3, 5, 5)],
        LabelFeatures: [(9, 4)] * 2,
    }
    assert shapes == expected[type(make())]


@pytest.mark.parametrize("name", ["bilstm1", "bilstm2", "attention"])
def test_encoded_sentence_is_that_of_the_batch(name):
    words = make_words()
    make, lengths = MODULES[name]
    encoder = make()
    together = encoder(words, lengths).split(LENGTHS)
    for sentence, expected in zip(words.split(LENGTHS), together):
        alone = encoder(sentence, torch.tensor([len(sentence)]))
        assert_close(alone, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("scorer", POINTERS)
def test_pointer_of_a_sentence_is_that_of_the_batch(scorer):
    words = make_words()
    pointer = Pointer(WIDTH, 4, scorer)
    together = pointer(words, torch.tensor(LENGTHS))
    for i, sentence in enumerate(words.split(LENGTHS)):
        length = len(sentence)
        alone = pointer(sentence, torch.tensor([length]))
        assert_close(alone[0], together[i, :length, :length], atol=1e-5, rtol=0)


@pytest.mark.parametrize("depth", [1, 2])
def test_bilstm_is_the_one_of_torch(depth):
    ours = BiLSTM(WIDTH, 8, depth)
    theirs = nn.LSTM(WIDTH, 4, depth, batch_first=True, bidirectional=True)
    for layer in range(depth):
        for suffix, module in (("", ours.forwards), ("_reverse", ours.backwards)):
            for name, weight in module[layer].named_parameters():
                target = getattr(theirs, name.replace("l0", f"l{layer}{suffix}"))
                target.data.copy_(weight.data)
    sentence = torch.randn(7, WIDTH)
    expected, _ = theirs(sentence[None])
    assert_close(ours(sentence, torch.tensor([7])), expected[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["bilstm1", "attention"])
def test_encoder_sees_the_whole_sentence_and_no_other(name):
    words = make_words().requires_grad_()
    make, lengths = MODULES[name]
    encoded = make()(words, lengths)
    encoded[4].square().sum().backward()  # the first word of the last sentence
    reached = words.grad.abs().sum(dim=1) > 0
    assert reached.tolist() == [False] * 4 + [True] * 5


@pytest.mark.parametrize("scorer", POINTERS)
def test_pointer_gives_padding_no_probability(scorer):
    scores = Pointer(WIDTH, 4, scorer)(make_words(), torch.tensor(LENGTHS))
    probabilities = scores.softmax(dim=-1)
    assert torch.isfinite(probabilities).all()
    for length, rows in zip(LENGTHS, probabilities):
        assert (rows[:length, length:] == 0).all()
        assert (rows[:length, :length] > 0).all()


def test_biaffine_scores_by_hand():
    pointer = Pointer(2, 2, "biaffine")
    for projection in (pointer.query[0], pointer.key[0]):
        projection.weight.data = torch.eye(2)
        projection.bias.data.zero_()
    pointer.weight.data = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    # Rectified: (1, 0) and (0, 2). Queries: (1, 2) + (5, 6) and (6, 8) + (5, 6).
    scores = pointer(torch.tensor([[1.0, -7.0], [-7.0, 2.0]]), torch.tensor([2]))
    assert scores.tolist() == [[[6.0, 16.0], [11.0, 28.0]]]


def test_gaps_by_hand():
    sentences = torch.tensor(
        [[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], [[4.0, 40.0], [0.0, 0.0], [0.0, 0.0]]]
    )
    before, behind = find_gaps(sentences)
    assert before[0].tolist() == [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]]
    assert behind[0].tolist() == [[1.0, 20.0], [2.0, 30.0], [3.0, 0.0]]
    assert before[1, 0].tolist() == [0.0, 40.0]
    assert behind[1, 0].tolist() == [4.0, 0.0]


def test_gaps_score_by_hand():
    pointer = Pointer(2, 1, "gaps")
    for projection in (pointer.query[0], pointer.key[0]):
        projection.weight.data = torch.tensor([[1.0, 0.1]])
        projection.bias.data.zero_()
    pointer.weight.data = torch.tensor([[1.0], [3.0]])
    pointer.back_weight.data = torch.tensor([[10.0], [-1.0]])
    pointer.query_weight.data = torch.tensor([[2.0]])
    words = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    scores = pointer(words, torch.tensor([3]))
    # Gaps before words 1, 3 and 5, behind them 3, 5 and 3. Where the first word of a
    # span points at the last, (before + 3) * behind.
    expected = [[12.0, 20.0, 12.0], [0.0, 30.0, 18.0], [0.0, 0.0, 24.0]]
    # Where the last points back, (10 * before - 1) * behind + 2 * before.
    expected[1][0], expected[2][:2] = 47.0, [29.0, 93.0]
    assert_close(scores, torch.tensor([expected]))


def test_query_key_scores_by_hand():
    pointer = Pointer(1, 1, "query_key")
    scales = {pointer.query: (2.0, 3.0), pointer.key: (1.0, -1.0)}
    for projection, (first, second) in scales.items():
        for layer, scale in zip([projection[0], projection[2]], (first, second)):
            layer.weight.data.fill_(scale)
            layer.bias.data.zero_()
    # Queries 6 and 12, keys -1 and -2: nothing is rectified after the second layer.
    scores = pointer(torch.tensor([[1.0], [2.0]]), torch.tensor([2]))
    assert scores.tolist() == [[[-6.0, -12.0], [-12.0, -24.0]]]


def test_dot_scores_by_hand():
    pointer = Pointer(1, 1, "dot")
    for layer, scale in zip([pointer.query[0], pointer.query[2]], (2.0, -3.0)):
        layer.weight.data.fill_(scale)
        layer.bias.data.zero_()
    # Both words are projected alike, to -6 and -12.
    scores = pointer(torch.tensor([[1.0], [2.0]]), torch.tensor([2]))
    assert scores.tolist() == [[[36.0, 72.0], [72.0, 144.0]]]
    assert len(list(pointer.parameters())) == 4


@pytest.mark.parametrize(
    "source, changed, reached",
    [
        # Word 4 points at 8; 6, 7 and 8 point at 8, 8 and 4; 5 points at 4.
        ("ends", 8, [4, 6, 7, 8]),
        ("ends", 4, [4, 5, 8]),
        ("ends", 7, [7]),
        ("word", 8, [8]),
        ("word", 4, [4]),
    ],
)
def test_what_span_features_depend_on(source, changed, reached):
    features = LabelFeatures(WIDTH, 20, source)
    words = make_words()
    other = words.clone()
    other[changed] = torch.randn(WIDTH)
    pairs = zip(features(words, TARGETS), features(other, TARGETS))
    spans, unaries = [
        ((a - b).abs() > 1e-6).any(dim=1).nonzero().flatten().tolist() for a, b in pairs
    ]
    assert spans == reached
    assert unaries == [changed]


def test_span_features_of_both_ends_are_the_same():
    features = LabelFeatures(WIDTH, 20, "ends")
    spans, _ = features(make_words(), TARGETS)
    assert_close(spans[4], spans[8])  # these two point at each other
    assert not torch.allclose(spans[4], spans[7])


@every_module
def test_module_gradients(make, rows):
    module = make().double()
    words = make_words(torch.float64).requires_grad_()
    weights = list(module.parameters())
    assert gradcheck(lambda *_: module(words, rows), (words, *weights))


@every_module
def test_dropout_acts_in_training_only(make, rows):
    module, words = make(), make_words()
    plain = as_tuple(module(words, rows))
    for dropped, expected in zip(as_tuple(module(words, rows, 0.5)), plain):
        assert not torch.allclose(dropped, expected)
    module.eval()
    for kept, expected in zip(as_tuple(module(words, rows, 0.5)), plain):
        assert_close(kept, expected)


@pytest.mark.parametrize("depth", [1, 2])
def test_bilstm_drops_the_inputs_of_each_layer(depth):
    encoder = BiLSTM(WIDTH, 8, depth)
    input_width = encoder.forwards[-1].input_size
    last = BiLSTM(input_width, 8, 1)
    last.forwards, last.backwards = encoder.forwards[-1:], encoder.backwards[-1:]
    nothing = torch.zeros(sum(LENGTHS), input_width)
    encoded = encoder(make_words(), torch.tensor(LENGTHS), 1.0)
    assert_close(encoded, last(nothing, torch.tensor(LENGTHS)))


class Spy(nn.Module):
    """Stands for a layer, and keeps what comes in."""

    def forward(self, words):
        self.words = words
        return words[..., :4], None


def test_bilstm_drops_the_same_dimensions_of_all_words_of_a_sentence():
    encoder, lengths = BiLSTM(WIDTH, 8, 1), torch.tensor([9] * 20)
    encoder.forwards[0] = spy = Spy()
    encoder(torch.ones(180, WIDTH), lengths, 0.5)
    first, *others = spy.words.unbind(dim=1)
    assert set(first.unique().tolist()) == {0.0, 2.0}
    assert len({tuple(sentence) for sentence in first.tolist()}) > 10
    for word in others:
        assert_close(word, first)


def test_pointer_drops_whole_queries_and_keys_of_width_one():
    pointer = Pointer(1, 1, "query_key")
    for layer in (*pointer.query[::2], *pointer.key[::2]):
        layer.weight.data.fill_(1.0)
        layer.bias.data.zero_()
    words, lengths = torch.arange(1.0, 31.0)[:, None], torch.tensor([30])
    plain, dropped = pointer(words, lengths)[0], pointer(words, lengths, 0.5)[0]
    queries, keys = (dropped != 0).any(dim=1), (dropped != 0).any(dim=0)
    assert 0 < queries.sum() < 30
    assert 0 < keys.sum() < 30
    assert_close(dropped, 4 * plain * queries[:, None] * keys)


def test_character_lstm_joins_the_last_state_of_each_direction():
    module = CharacterLSTM(rows=9, character_width=WIDTH, width=8)
    characters = torch.tensor([1, 5, 8, 2, 0, 3, 3, 4, 7])
    vectors = module(characters, torch.tensor(LENGTHS))
    left, right = module.encode.forwards[0], module.encode.backwards[0]
    for vector, word in zip(vectors, characters.split(LENGTHS)):
        embedded = module.embed(word)[None]
        ends = [left(embedded)[0][0, -1], right(embedded.flip(1))[0][0, -1]]
        assert_close(vector, torch.cat(ends))


def test_gradients_of_characters_are_right():
    module = CharacterLSTM(rows=5, character_width=3, width=4).double()
    characters, lengths = torch.tensor([1, 4, 2, 0, 3, 3]), torch.tensor([2, 1, 3])
    weights = list(module.parameters())
    assert gradcheck(lambda *_: module(characters, lengths), weights)


def attend_by_hand(layer, content, position):
    """One layer of one sentence, with content and position written apart."""
    heads, widths = layer.heads, (content.shape[1], position.shape[1])
    keys, values = [], []
    for half, vectors in enumerate((content, position)):
        projected = layer.attend.layers[half](vectors)
        query, key, value = projected.view(len(vectors), 3, heads, -1).unbind(1)
        keys.append(torch.einsum("ihk,jhk->hij", query, key))
        values.append(value)
    scale = (2 * values[0].shape[-1]) ** 0.5
    weights = ((keys[0] + keys[1]) / scale).softmax(dim=-1)
    mixed = [
        mix(torch.einsum("hij,jhk->ihk", weights, value).flatten(1))
        for mix, value in zip(layer.mix.layers, values)
    ]
    words = layer.norms[0](torch.cat([content, position], 1) + torch.cat(mixed, 1))
    inner = [
        contract(expand(half).relu())
        for expand, contract, half in zip(
            layer.expand.layers, layer.contract.layers, words.split(widths, 1)
        )
    ]
    return layer.norms[1](words + torch.cat(inner, 1))


def test_self_attention_factors_content_and_position():
    encoder = SelfAttention(WIDTH, 8, 2, 2, 4, 12, 9)
    sentence = torch.randn(5, WIDTH)
    positions = encoder.positions(torch.arange(5))
    words = encoder.norm(torch.cat([encoder.content(sentence), positions], 1))
    for layer in encoder.layers:
        words = attend_by_hand(layer, *words.split(4, 1))
    assert_close(encoder(sentence, torch.tensor([5])), words, atol=1e-5, rtol=0)


def test_words_beyond_the_last_position_share_it():
    encoder = SelfAttention(WIDTH, 8, 1, 2, 4, 12, 3)
    encoded = encoder(torch.ones(6, WIDTH), torch.tensor([6]))
    assert_close(encoded[2:], encoded[2].expand(4, -1))
    assert (encoded[1] - encoded[2]).abs().max() > 1e-3
