"""Attributes of tokens as numbers."""

import re
from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Ints2d

InT = list[Doc]
OutT = list[Ints2d]
# The full-width forms of ASCII characters, used in Chinese and Japanese texts.
_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FULL_WIDTH = re.compile("[\uff01-\uff5e]")


def extract_features(columns: list[str]) -> Model[InT, OutT]:
    """Build a layer that gets attributes of tokens as `spacy.FeatureExtractor.v1` does,
    but reads full-width characters as ASCII.

    columns (List[str]): The attributes.
    RETURNS (Model[List[Doc], List[Ints2d]]): The layer: one row a token, one column an
        attribute.
    """
    return Model("extract_features", forward, attrs={"columns": columns})


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    columns = model.attrs["columns"]
    features = []
    for doc in docs:
        if _FULL_WIDTH.search(doc.text):
            doc = _convert_to_ascii(doc, columns)
        values: Any = doc.to_array(columns).reshape(len(doc), len(columns))
        features.append(model.ops.asarray2i(values, dtype="uint64"))

    def backprop(d_features: OutT) -> InT:
        return []

    return features, backprop


def _convert_to_ascii(doc: Doc, columns: list[Any]) -> Doc:
    """Copy a Doc with its columns, and with ASCII characters for full-width ones."""
    words = [token.text.translate(_TO_ASCII) for token in doc]
    values: Any = doc.to_array(columns)
    copy = Doc(doc.vocab, words=words).from_array(columns, values)
    for token, copied in zip(doc, copy):
        copied.norm_ = token.norm_.translate(_TO_ASCII)
    return copy
