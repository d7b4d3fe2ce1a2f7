"""Which sentences are computed together."""

from collections.abc import Iterator

# Padded pairs of words that are scored at a time: two matrices of them are in memory.
MAX_BATCH_PAIRS = 1_000_000


def batch_by_length(lengths: list[int], max_words: int) -> Iterator[list[int]]:
    """Group sentences of like length, so that little is padding.

    lengths (List[int]): Number of words of each sentence.
    max_words (int): Padded words of a batch at most, where it has several sentences.
    YIELDS (List[int]): The numbers of the sentences in each batch.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = (len(batch) + 1) * lengths[i]
        full = padded > max_words or padded * lengths[i] > MAX_BATCH_PAIRS
        if batch and full:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
