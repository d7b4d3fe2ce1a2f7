"""Sentences of Docs."""

from spacy.tokens import Doc, Span


def get_sentences(doc: Doc) -> list[Span]:
    """Get the sentences of a Doc, or the whole Doc if it has no sentence boundaries.

    doc (Doc): The Doc.
    RETURNS (List[Span]): The sentences. Empty for an empty Doc.
    """
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    return [doc[:]] if len(doc) else []
