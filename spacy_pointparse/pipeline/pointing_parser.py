"""The trainable pipeline component."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy
from nltk import Tree
from numpy.typing import NDArray
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Config, Model, Ops, Optimizer, set_dropout_rate

from ..evaluation.calibration import Calibration, fit, get_calibration_pairs
from ..pointing.decoder import Decoder
from ..pointing.encoding import EMPTY, JOINER
from ..tokens.constituents import SPANS_KEY, UNKNOWN_TAG, set_constituents
from ..tokens.extensions import install_extensions
from ..tokens.parse import Parse
from ..training.labels import check_label, get_plain_labels, read_labels
from ..training.loss import compute_loss
from ..training.targets import Target, get_targets
from ..trees.structure import Constituent, build_tree
from ..util.arrays import offset_rows, to_ids
from .inference import get_unique_trees, parse_docs

DEFAULT_CONFIG = """
[model]
@architectures = "spacy-pointparse.PointingParser.v1"
width = 128
tag_head = true
pointing = "gaps"
pointing_width = 250
singleton_width = 64
left_width = 0
labels_from = "ends"
label_width = 250
mixed_precision = false

[model.tok2vec]
@architectures = "spacy-pointparse.HashEmbed.v1"
width = 128
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [15000, 1000, 5000, 2500]
min_count = 1

[model.lower_encoder]
@architectures = "spacy-pointparse.BiLSTM.v1"
input_width = 128
width = 320
depth = 1

[model.upper_encoder]
@architectures = "spacy-pointparse.BiLSTM.v1"
input_width = 320
width = 320
depth = 2
"""
DEFAULT_MODEL = Config().from_str(DEFAULT_CONFIG)["model"]
_NOT_TRAINED = (
    "The component {name!r} is not trained: load a trained pipeline, as with "
    'spacy.load("en_pointparse_sm"), or train this one with "spacy train".'
)
_NO_NUMBERS = (
    "The component {name!r} scores trees by values that are not numbers (NaN): its "
    "weights or the vectors that it gets hold some. Load it again, or train it again "
    "with a lower learning rate."
)
_FOREIGN_TAGS = (
    "The component {name!r} keeps the tags that the words have, but most are none of "
    "its own, such as {tag!r}: a tokenizer or a component before it has set them. Set "
    "overwrite_tags = true for the tags of the trees that it has learned from."
)
_NOTHING_TO_LEARN = (
    "Nothing can be learned from these examples: each sentence lacks a tree that fits "
    "its predicted tokens, or is longer than max_length. Leave such examples out, as "
    "update does."
)
_CANNOT_LOAD = (
    "The component in {} cannot be loaded: {}: {}. If its files are damaged, or were "
    "saved by a version that this one cannot read, copy, install or train the pipeline "
    "again."
)


@Language.factory(
    "pointing_parser",
    assigns=[
        "doc.spans",
        "token.tag",
        "doc._.parse_string",
        "doc._.parse_trees",
        "span._.parse_string",
        "span._.parse_tree",
        "span._.labels",
        "span._.constituents",
        "span._.parent",
        "span._.children",
        "span._.probability",
        "token._.labels",
        "token._.parse_string",
        "token._.parent",
    ],
    default_config={
        "model": DEFAULT_MODEL,
        "decode_from": "log_probabilities",
        "decoder": "exact",
        "beam_size": 10,
        "max_length": 1000,
        "max_batch_tokens": 2000,
        "overwrite_tags": False,
        "spans_key": SPANS_KEY,
        "scorer": {"@scorers": "spacy-pointparse.constituents_scorer.v1"},
    },
    default_score_weights={
        "spans_constituents_f": 1.0,
        "spans_constituents_p": 0.0,
        "spans_constituents_r": 0.0,
        "spans_constituents_per_type": None,
    },
)
def make_pointing_parser(
    nlp: Language,
    name: str,
    model: Model,
    decode_from: Literal["log_probabilities", "probabilities"],
    decoder: Literal["exact", "greedy", "beam"],
    beam_size: int,
    max_length: int,
    max_batch_tokens: int,
    overwrite_tags: bool,
    spans_key: str,
    scorer: Callable | None,
) -> "PointingParser":
    """Construct a PointingParser component.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    model (Model): The model that scores pointings and labels.
    decode_from (str): Scores that the decoder adds up: "log_probabilities", or
        "probabilities" as in the paper.
    decoder (str): "exact" for the best tree under the sum of these scores, found in n³
        steps, and "greedy" for sentences of more than 128 words; "greedy", top-down as
        in the paper, in n log n to n² steps; or "beam".
    beam_size (int): Number of trees that a beam keeps.
    max_length (int): Longest sentence, in words, that is parsed in one piece. A longer
        one is cut at punctuation, and its segments are put under one TOP.
    max_batch_tokens (int): Words, padding included, that are parsed at a time:
        sentences of similar length, from all Docs of a batch. A longer sentence is
        parsed alone.
    overwrite_tags (bool): Replace existing tags with the parser's own.
    spans_key (str): The span group to write parses to and to learn them from. Give
        each parser of a pipeline its own. Extension attributes read "constituents".
    scorer (Optional[Callable]): The scoring method.
    RETURNS (PointingParser): The component.
    """
    return PointingParser(
        nlp.vocab,
        model,
        name,
        decode_from=decode_from,
        decoder=decoder,
        beam_size=beam_size,
        max_length=max_length,
        max_batch_tokens=max_batch_tokens,
        overwrite_tags=overwrite_tags,
        spans_key=spans_key,
        scorer=scorer,
    )


class PointingParser(TrainablePipe):
    """Parse sentences into constituency trees by pointing (Nguyen et al., ACL 2020)."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "pointing_parser",
        *,
        decode_from: Literal[
            "log_probabilities", "probabilities"
        ] = "log_probabilities",
        decoder: Literal["exact", "greedy", "beam"] = "exact",
        beam_size: int = 10,
        max_length: int = 1000,
        max_batch_tokens: int = 2000,
        overwrite_tags: bool = False,
        spans_key: str = SPANS_KEY,
        scorer: Callable | None = None,
    ) -> None:
        """Construct the component, and register the extension attributes.

        vocab (Vocab): The shared vocabulary.
        model (Model): The model that scores pointings and labels.
        name (str): Name of the component.
        decode_from (str), decoder (str), beam_size (int), max_length (int),
            max_batch_tokens (int), overwrite_tags (bool), spans_key (str), scorer
            (Optional[Callable]): See `make_pointing_parser`.
        RAISES (ValueError): If max_length, max_batch_tokens or beam_size is not
            positive.
        """
        for setting, value in (
            ("max_length", max_length),
            ("max_batch_tokens", max_batch_tokens),
            ("beam_size", beam_size),
        ):
            if value < 1:
                raise ValueError(f"{setting} must be 1 or more, but is {value}.")
        install_extensions()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.decode_from = decode_from
        self.decoder = decoder
        self.beam_size = beam_size
        self.max_length = max_length
        self.max_batch_tokens = max_batch_tokens
        self.overwrite_tags = overwrite_tags
        self.spans_key = spans_key
        # What is saved with the weights; other settings are in the pipeline's config.
        self.cfg: dict[str, Any] = {
            "labels": {"spans": [EMPTY], "unaries": [EMPTY], "tags": []}
        }

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of constituents, without those that only binarization uses."""
        return tuple(sorted(get_plain_labels(self.cfg["labels"])))

    @property
    def label_data(self) -> dict[str, list[str]]:
        """All that `initialize` needs to make the same labels: those of spans of
        several words, those over single words (unary chains folded), and tags."""
        return {kind: list(labels) for kind, labels in self.cfg["labels"].items()}

    def add_label(self, label: str) -> int:
        """Add a label of constituents, before the model is initialized.

        label (str): The label.
        RETURNS (int): 0 if the label is there already, otherwise 1.
        RAISES (ValueError): If it is no string, holds white space, or the model is
            initialized, its number of labels fixed.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        check_label(label)
        if label in self.labels:
            return 0
        if self._is_initialized:
            nO = self.model.get_ref("output_layer").get_dim("nO")
            raise ValueError(Errors.E922.format(name=self.name, nO=nO))
        for kind in ("spans", "unaries"):
            self.cfg["labels"][kind].append(label)
        self.vocab.strings.add(label)
        return 1

    @property
    def _is_initialized(self) -> bool:
        return bool(self.model.get_ref("output_layer").has_dim("nO"))

    def _check_trained(self) -> None:
        if not self._is_initialized:
            raise ValueError(_NOT_TRAINED.format(name=self.name))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of Docs in batches. If a batch fails, its Docs are parsed one
        by one, so that only the bad ones go to the error handler.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): Number of Docs in a batch.
        YIELDS (Doc): The parsed Docs, in order.
        RAISES (MemoryError): If a batch needs more memory than there is.
        """
        for docs in minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except MemoryError:
                raise
            except Exception:
                yield from (doc for doc in docs if self(doc) is not None)
            else:
                yield from docs

    def predict(self, docs: Iterable[Doc]) -> list[list[Parse]]:
        """Parse Docs without changing them.

        docs (Iterable[Doc]): The Docs.
        RETURNS (List[List[Parse]]): The parse of each sentence of each Doc.
        RAISES (ValueError): If the component is not trained, or if its scores are not
            numbers.
        """
        best = []
        for sentences in self._parse(list(docs)):
            best.append([parses[0] for parses in sentences])
        return best

    def find_best(self, doc: Doc, count: int) -> list[list[tuple[float, Tree]]]:
        """Find the best trees of each sentence of a Doc, and leave the Doc as it is.

        Candidates are the k best binary trees by their pointings, the parse among them:
        exactly these in sentences that are decoded exactly, otherwise those of a beam.
        Here k is the greater of `beam_size` and twice `count`. Each candidate is
        labeled in the best ways.

        doc (Doc): The Doc.
        count (int): Number of trees at most; one of a sentence longer than
            `max_length`.
        RETURNS (List[List[Tuple[float, Tree]]]): For each sentence, except those of
            white space only, its trees, best first, each with the log-probability of
            all its pointings and labels. The scores are not calibrated. The first tree
            scores at least as high as the parse, and usually is the parse: that is
            decoded from pointings alone, and labeled afterwards.
        RAISES (ValueError): If the component is not trained, its scores are not
            numbers, or count is not positive.
        """
        if count < 1:
            raise ValueError(f"count must be 1 or more, but is {count}.")
        # Several binary trees can stand for the same tree.
        [sentences] = self._parse([doc], count=max(2 * count, self.beam_size))
        best = []
        for parses in sentences:
            unique = get_unique_trees(parses)[:count]
            best.append([(each.score, _make_tree(doc, each)) for each in unique])
        return best

    def _parse(self, docs: list[Doc], count: int = 1) -> list[list[list[Parse]]]:
        self._check_trained()
        try:
            return parse_docs(
                self.model,
                docs,
                self.cfg["labels"],
                Decoder(self.decode_from, self.decoder, self.beam_size),
                max_length=self.max_length,
                max_batch_tokens=self.max_batch_tokens,
                count=count,
            )
        except FloatingPointError:
            raise ValueError(_NO_NUMBERS.format(name=self.name)) from None

    @property
    def calibration(self) -> Calibration:
        """What turns the model's probabilities into calibrated ones; it changes none
        before `calibrate`."""
        return Calibration(*self.cfg.get("calibration", ()))

    def get_calibration_pairs(
        self, examples: Iterable[Example]
    ) -> tuple[NDArray, NDArray]:
        """Pair the uncalibrated probability of each constituent that the parser finds
        with whether it is right. Sentences whose gold tree does not fit the predicted
        tokens are left out.

        examples (Iterable[Example]): The examples; the predicted Docs stay as they are.
        RETURNS (Tuple[NDArray, NDArray]): Probabilities, and 1 for right or 0 for
            wrong. Both of shape (constituents,).
        RAISES (ValueError): If the component is not trained.
        """
        examples = list(examples)
        parses = self.predict([example.predicted for example in examples])
        pairs: list[tuple[float, bool]] = []
        for example, sentences in zip(examples, parses):
            pairs += get_calibration_pairs(example, sentences, self.spans_key)
        probabilities, right = numpy.array(pairs, dtype=float).reshape(-1, 2).T
        return probabilities, right

    def calibrate(self, examples: Iterable[Example]) -> Calibration:
        """Fit the probabilities of constituents to how often they are right.

        examples (Iterable[Example]): Examples that the parser was not trained on.
        RETURNS (Calibration): The fit, which is saved with the component.
        RAISES (ValueError): If the component is not trained, or if all constituents it
            finds are right, or all wrong.
        """
        calibration = fit(*self.get_calibration_pairs(examples))
        self.cfg["calibration"] = list(calibration)
        return calibration

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[Parse]]) -> None:
        """Write parses to Docs: the span group of constituents, with their calibrated
        probabilities, and tags where there are none (everywhere with
        `overwrite_tags`). Warns if most tags that it keeps are not its own.

        docs (Iterable[Doc]): The Docs to modify.
        scores (List[List[Parse]]): The parses from `predict`.
        """
        calibration = self.calibration
        kept: list[str] = []
        for doc, parses in zip(docs, scores):
            brackets: list[Constituent] = []
            probabilities: list[float] = []
            for parse in parses:
                for start, end, label in parse.constituents:
                    words = parse.words
                    brackets.append((words[start], words[end - 1] + 1, label))
                probabilities += parse.probabilities
                kept += self._set_tags(doc, parse)
            calibrated = calibration.apply(numpy.array(probabilities))
            set_constituents(doc, brackets, calibrated, self.spans_key)
        own = {*self.cfg["labels"]["tags"]} - {""}
        foreign = [tag for tag in kept if tag not in own]
        if own and 2 * len(foreign) > len(kept):
            text = _FOREIGN_TAGS.format(name=self.name, tag=foreign[0])
            warnings.warn(text, stacklevel=2)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score a batch of examples by the component's scoring method.

        examples (Iterable[Example]): The examples.
        kwargs (Any): Further arguments of the scoring method.
        RETURNS (Dict[str, Any]): The scores.
        """
        return super().score(examples, **{"spans_key": self.spans_key, **kwargs})

    def _set_tags(self, doc: Doc, parse: Parse) -> list[str]:
        """Set the tags of a sentence, and return those that it keeps."""
        kept = []
        for index, tag in zip(parse.words, parse.tags):
            token = doc[index]
            if self.overwrite_tags or not token.tag:
                token.tag_ = tag
            else:
                kept.append(token.tag_)
        return kept

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of examples. Sentences are those of the predicted Doc,
        or of the reference where it has none. A sentence with a bracket that does not
        fit the predicted tokens teaches nothing.

        examples (Iterable[Example]): The batch.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer; without it, gradients add up.
        losses (Optional[Dict[str, float]]): The losses so far, by component name.
        RETURNS (Dict[str, float]): The updated losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "PointingParser.update")
        targets = self._get_targets(examples)
        if not targets:
            return losses
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        batch = _make_batch(self.model.ops, docs, targets)
        scores, backprop = self.model.begin_update(batch)
        loss, d_scores = self._compute_loss(targets, scores)
        backprop(d_scores)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights. The probabilities that they will give are not those that
        `calibrate` has seen, so its fit is dropped.

        sgd (Optimizer): The optimizer.
        """
        super().finish_update(sgd)
        self.cfg.pop("calibration", None)

    def get_loss(self, examples: Iterable[Example], scores: Any) -> tuple[float, Any]:
        """Find the loss and its gradient: the sum of the cross entropies of the
        paper's four heads and of the tag head, each summed over words, so that
        gradients of small batches add up to those of a large one.

        examples (Iterable[Example]): The batch.
        scores (Scores): The scores of the model for the sentences that teach.
        RETURNS (Tuple[float, Scores]): The loss and the gradient.
        RAISES (ValueError): If no sentence teaches, or the loss is not a number.
        """
        targets = self._get_targets(examples)
        if not targets:
            raise ValueError(_NOTHING_TO_LEARN)
        return self._compute_loss(targets, scores)

    def _get_targets(self, examples: Iterable[Example]) -> list[Target]:
        return get_targets(
            examples, self.cfg["labels"], self.max_length, self.spans_key
        )

    def _compute_loss(self, targets: list[Target], scores: Any) -> tuple[float, Any]:
        loss, gradients = compute_loss(self.model.ops, targets, scores)
        if numpy.isnan(loss):
            raise ValueError(Errors.E910.format(name=self.name))
        return loss, gradients

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
    ) -> None:
        """Initialize the component for training.

        get_examples (Callable[[], Iterable[Example]]): Returns the training examples.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Dict[str, List[str]]]): The `label_data` of another component
            or of "spacy init labels". If None, those of all examples are added to
            those of `add_label`.
        RAISES (ValueError): If there are no labels, if one is empty or holds white
            space, or if `labels` is no `label_data`.
        """
        validate_get_examples(get_examples, "PointingParser.initialize")
        if labels is None:
            labels = read_labels(
                get_examples(),
                self.name,
                self.max_length,
                self.spans_key,
                known=self.labels,
            )
        self._set_labels(labels)
        sample = [example.predicted for example in islice(get_examples(), 10)]
        n_tokens = sum(len(doc) for doc in sample)
        if not n_tokens:
            raise ValueError(Errors.E923.format(name=self.name))
        ops = self.model.ops
        rows = to_ids(ops, numpy.arange(n_tokens))
        shapes = [ops.alloc2f(1, len(names)) for names in self.label_data.values()]
        # All tokens as one sentence: only the sizes count.
        self.model.initialize(X=(sample, [rows], rows), Y=(None, None, *shapes))
        if observe := self.model.attrs.get("observe"):
            observe(self.model, (example.predicted for example in get_examples()))

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "PointingParser":
        """Load the component from a folder.

        path (Union[str, Path]): The folder.
        exclude (Iterable[str]): Names of what is not to be loaded.
        RETURNS (PointingParser): The loaded component.
        RAISES (OSError): If a file cannot be read.
        RAISES (ValueError): If what the files hold does not fit.
        """
        try:
            super().from_disk(path, exclude=exclude)
            self._check_labels()
        except (MemoryError, OSError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise ValueError(_CANNOT_LOAD.format(path, kind, error)) from error
        return self

    def _check_labels(self) -> None:
        if not self._is_initialized:
            return
        for kind, layer in (("spans", "output_layer"), ("unaries", "unary_layer")):
            count = len(self.cfg["labels"][kind])
            scores = self.model.get_ref(layer).get_dim("nO")
            if count != scores:
                raise ValueError(f"{count} {kind} for {scores} scores")

    def _set_labels(self, labels: dict[str, list[str]]) -> None:
        if set(labels) != set(self.cfg["labels"]):
            raise ValueError(
                f"The labels of {self.name!r} must be a dict with the keys "
                f"{sorted(self.cfg['labels'])}, as in its label_data."
            )
        for kind, known in self.cfg["labels"].items():
            added = [label for label in labels[kind] if label not in set(known)]
            if added and self._is_initialized:
                raise ValueError(Errors.E922.format(name=self.name, nO=len(known)))
            known.extend(added)
            for label in added:
                for part in label.split(JOINER):
                    self.vocab.strings.add(part)


def _make_batch(ops: Ops, docs: list[Doc], targets: list[Target]) -> Any:
    """Make the input of the model: Docs, the rows of each sentence's words among their
    tokens, and the row that each word points at."""
    sentences = [to_ids(ops, target.words) for target in targets]
    rows = offset_rows([target.pointings for target in targets])
    return docs, sentences, to_ids(ops, rows)


def _make_tree(doc: Doc, parse: Parse) -> Tree:
    words = [doc[i] for i in parse.words]
    predicted = parse.tags or [""] * len(words)
    tags = [token.tag_ or tag or UNKNOWN_TAG for token, tag in zip(words, predicted)]
    tree = build_tree([token.text for token in words], tags, parse.constituents)
    return tree[0] if len(tree) == 1 else tree
