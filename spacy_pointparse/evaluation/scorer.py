"""Score the parses of Docs by the rules of EVALB.

Brackets are compared by the characters that they cover, so that tokens, spaces and
sentences may differ. The gold tags decide what is punctuation, on both sides.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from spacy.errors import Errors
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..tokens.constituents import SPANS_KEY
from ..tokens.sentences import get_sentences
from ..trees.structure import Constituent
from .evalb import (
    FlatTree,
    add_types,
    count_crossing,
    delete_words,
    find_mismatch,
    match_brackets,
    move_brackets,
    score_types,
    select_brackets,
)
from .params import EvalbParams, get_setting


def make_constituents_scorer(setting: str = "collins") -> Callable[..., dict[str, Any]]:
    """Make a scorer. Registered as `spacy-pointparse.constituents_scorer.v1`.

    setting (str): The EVALB parameters: "collins", "nk", "spmrl" or a parameter file.
    RETURNS (Callable[..., Dict[str, Any]]): `constituents_score` with that setting.
    """
    get_setting(setting)
    return partial(constituents_score, setting=setting)


def constituents_score(
    examples: Iterable[Example],
    *,
    setting: str = "collins",
    spans_key: str = SPANS_KEY,
    **kwargs: Any,
) -> dict[str, Any]:
    """Score the parses of Docs. Examples whose reference has no parse are left out.

    examples (Iterable[Example]): The examples to score.
    setting (str): The EVALB parameters: "collins", "nk", "spmrl" or a parameter file.
    spans_key (str): The span group that holds the parses. It also names the scores.
    RETURNS (Dict[str, Any]): Labeled precision, recall and F-score, overall and by
        label, from 0 to 1; the share of gold sentences with all brackets right, and
        their average number of crossing brackets; the tag accuracy over tokens that
        both sides share, without punctuation; and the number of gold sentences that
        EVALB would reject because the words left after deleting punctuation by each
        side's own tags differ. The last two need gold tags. A score without gold
        annotation is None.
    RAISES (ValueError): If the texts of an example differ by more than whitespace.
    """
    rules = get_setting(setting)
    scored = (eg for eg in examples if spans_key in eg.reference.spans)
    results = [_count_example(example, rules, spans_key) for example in scored]
    per_type = add_types(scores for scores, _ in results)
    brackets = sum(per_type.values(), PRFScore())
    total: Counter[str] = Counter()
    for _, counts in results:
        total.update(counts)
    scores = {
        f"spans_{spans_key}_p": brackets.precision,
        f"spans_{spans_key}_r": brackets.recall,
        f"spans_{spans_key}_f": brackets.fscore,
        f"spans_{spans_key}_per_type": {k: v.to_dict() for k, v in per_type.items()},
        f"{spans_key}_complete": _divide(total["complete"], total["sentences"]),
        f"{spans_key}_crossing": _divide(total["crossing"], total["sentences"]),
        f"{spans_key}_tag_acc": _divide(total["tags"], total["tokens"]),
        f"{spans_key}_rejected": total["rejected"] if total["tagged"] else None,
    }
    return scores if results else dict.fromkeys(scores)


def find_errors(
    example: Example, *, setting: str = "collins"
) -> tuple[list[int], list[int]]:
    """Find the constituents that `constituents_score` counts as errors.

    example (Example): The predicted and the gold Doc.
    setting (str): The EVALB parameters: "collins", "nk", "spmrl" or a parameter file.
    RETURNS (Tuple[List[int], List[int]]): The wrong constituents of the predicted Doc
        and the missed ones of the gold Doc, as indices into their span groups.
    RAISES (ValueError): If the texts differ by more than whitespace.
    """
    rules = get_setting(setting)
    gold, pred, places = _read_texts(example, rules)
    golds = list(_list_counted(example.reference, gold, places, rules))
    preds = list(_list_counted(example.predicted, pred, places, rules))
    gold_brackets = [bracket for _, bracket in golds]
    pred_brackets = [bracket for _, bracket in preds]
    matches = match_brackets(gold_brackets, pred_brackets, rules)
    found = set(matches.values())
    return (
        [place for j, (place, _) in enumerate(preds) if j not in found],
        [place for i, (place, _) in enumerate(golds) if i not in matches],
    )


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class _Text(NamedTuple):
    """The text of a Doc without whitespace.

    words (List[str]): The characters of each token.
    tags (List[str]): The tag of each token.
    places (List[int]): The character offset of each token, and the total number of
        characters.
    """

    words: list[str]
    tags: list[str]
    places: list[int]

    def get_parse(self, start: int, end: int) -> FlatTree:
        """Get the words and tags that begin in a range of characters."""
        first, last = (bisect_left(self.places, place) for place in (start, end))
        inside = [i for i in range(first, last) if self.words[i]]
        return [self.words[i] for i in inside], [self.tags[i] for i in inside], []


def _read_text(doc: Doc) -> _Text:
    words = ["".join(token.text.split()) for token in doc]
    tags = [token.tag_ for token in doc]
    return _Text(words, tags, list(accumulate(map(len, words), initial=0)))


def _read_texts(
    example: Example, setting: EvalbParams
) -> tuple[_Text, _Text, list[int]]:
    """Read the gold and the predicted text, and count the characters before each
    character that are not punctuation.

    RETURNS (Tuple[_Text, _Text, List[int]]): The texts, and for each character offset
        the number of such characters before it.
    """
    gold, pred = _read_text(example.reference), _read_text(example.predicted)
    if "".join(gold.words) != "".join(pred.words):
        raise ValueError(Errors.E949.format(x=pred.words[:10], y=gold.words[:10]))
    kept = [tag not in setting.deleted for tag in gold.tags]
    by_character = (keep for keep, word in zip(kept, gold.words) for _ in word)
    return gold, pred, list(accumulate(by_character, initial=0))


def _count_example(
    example: Example, setting: EvalbParams, spans_key: str
) -> tuple[dict[str, PRFScore], dict[str, int]]:
    gold, pred, places = _read_texts(example, setting)
    gold_brackets = _get_brackets(example.reference, gold, places, spans_key)
    pred_brackets = _get_brackets(example.predicted, pred, places, spans_key)
    golds = select_brackets(gold_brackets, setting)
    preds = select_brackets(pred_brackets, setting)
    sents = get_sentences(example.reference)
    bounds = [(gold.places[sent.start], gold.places[sent.end]) for sent in sents]
    starts = [places[start] for start, end in bounds if places[start] < places[end]]
    matches = match_brackets(golds, preds, setting)
    found = set(matches.values())
    differing = [bracket for i, bracket in enumerate(golds) if i not in matches]
    differing += [bracket for j, bracket in enumerate(preds) if j not in found]
    wrong = {bisect_right(starts, start) for start, _, _ in differing}
    return score_types(golds, preds, matches, setting), {
        "sentences": len(starts),
        "complete": len(starts) - len(wrong),
        "crossing": count_crossing(golds, preds, places[-1]),
        **_count_tags(gold, pred, bounds, setting),
    }


def _get_brackets(
    doc: Doc, text: _Text, places: Sequence[int], spans_key: str
) -> list[Constituent]:
    """Get the brackets over the characters that are not punctuation."""
    spans = doc.spans.get(spans_key, ())
    constituents = ((span.start, span.end, span.label_) for span in spans)
    return move_brackets(constituents, [places[place] for place in text.places])


def _list_counted(
    doc: Doc, text: _Text, places: Sequence[int], setting: EvalbParams
) -> Iterator[tuple[int, Constituent]]:
    """List the constituents that count, with their indices in the span group."""
    ends = [places[place] for place in text.places]
    for i, span in enumerate(doc.spans.get(SPANS_KEY, ())):
        moved = move_brackets([(span.start, span.end, span.label_)], ends)
        yield from ((i, bracket) for bracket in select_brackets(moved, setting))


def _count_tags(
    gold: _Text, pred: _Text, bounds: Iterable[tuple[int, int]], setting: EvalbParams
) -> dict[str, int]:
    """Count what requires gold tags. Without any, the result is empty."""
    if not any(gold.tags):
        return {}
    pred_tags = dict(zip(zip(pred.places, pred.places[1:]), pred.tags))
    gold_tags = dict(zip(zip(gold.places, gold.places[1:]), gold.tags))
    common = [
        (tag, pred_tags[place])
        for place, tag in gold_tags.items()
        if place in pred_tags and place[0] < place[1]
        if tag and tag not in setting.deleted
    ]
    parses = [(gold.get_parse(*ends), pred.get_parse(*ends)) for ends in bounds]
    left = [delete_words(*pair, setting) for pair in parses]
    return {
        "tagged": 1,
        "tokens": len(common),
        "tags": sum(setting.tags_match(*pair) for pair in common),
        "rejected": sum(bool(find_mismatch(a[0], b[0], setting)) for a, b in left),
    }
