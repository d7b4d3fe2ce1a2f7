"""Group sentences into batches."""

from collections.abc import Iterator

# Limit on the padded word pairs scored at once. Two such matrices are held in memory.
MAX_BATCH_PAIRS = 1_000_000


def batch_by_length(lengths: list[int], max_words: int) -> Iterator[list[int]]:
    """Group sentences of similar length to keep padding low.

    lengths (List[int]): The length of each sentence in words.
    max_words (int): Maximum number of padded words in a batch of several sentences.
    YIELDS (List[int]): The indices of the sentences in each batch.
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
