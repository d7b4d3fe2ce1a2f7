"""Print a trained model's figures beside those in the tables of the paper.

    python benchmarks/paper.py training/paper/model-best corpus/paper/test.spacy PTB

Gold sentences, with gold tags or those of a file named last, which has the tags of one
tree a line. Prints EVALB's labeled recall, precision and F1 (by the setting of the
pipeline's scorer: collins, or spmrl for the languages of the shared tasks), and
sentences per second, one at a time and in batches, on a GPU if there is one.
"""

import sys
import time

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_pointparse.training.corpus import create_corpus

# Recall, precision and F1 of "Our Model" in the tables of the paper.
PRINTED = {
    "PTB": ("92.81", "92.75", "92.78"),
    "PTB with an LSTM": ("-", "-", "92.26"),
    "PTB with bert-base-uncased": ("-", "-", "95.34"),
    "PTB with bert-large-cased": ("-", "-", "95.48"),
    "Basque": ("-", "-", "90.23"),
    "French": ("-", "-", "82.20"),
    "German": ("-", "-", "84.91"),
    "Hebrew": ("-", "-", "90.63"),
    "Hungarian": ("-", "-", "91.07"),
    "Korean": ("-", "-", "85.36"),
    "Polish": ("-", "-", "93.99"),
    "Swedish": ("-", "-", "86.87"),
    "Basque with bert-base-multilingual-cased": ("-", "-", "92.02"),
    "French with bert-base-multilingual-cased": ("-", "-", "86.69"),
    "German with bert-base-multilingual-cased": ("-", "-", "90.28"),
    "Hebrew with bert-base-multilingual-cased": ("-", "-", "93.67"),
    "Hungarian with bert-base-multilingual-cased": ("-", "-", "94.24"),
    "Korean with bert-base-multilingual-cased": ("-", "-", "88.71"),
    "Polish with bert-base-multilingual-cased": ("-", "-", "96.14"),
    "Swedish with bert-base-multilingual-cased": ("-", "-", "89.10"),
}
# On the test set of the Penn Treebank, one sentence at a time, on a GTX 1080Ti.
PRINTED_SPEED = "130.2"
BATCH_SIZES = (1, 100)


def measure_speed(nlp: Language, docs: list[Doc], batch_size: int) -> float:
    """Measure sentences per second."""
    start = time.perf_counter()
    for _ in nlp.pipe(docs, batch_size=batch_size):
        pass
    return len(docs) / (time.perf_counter() - start)


def main(model: str, data: str, row: str, tags: str | None = None) -> None:
    spacy.prefer_gpu()
    nlp = spacy.load(model)
    corpus = create_corpus(data, gold_tags=tags is None, tags=tags)
    scores = nlp.evaluate(list(corpus(nlp)))
    ours = [f"{100 * scores[f'spans_constituents_{x}']:.2f}" for x in "rpf"]
    speeds = []
    for batch_size in BATCH_SIZES:
        docs = [example.predicted for example in corpus(nlp)]
        speeds.append(f"{measure_speed(nlp, docs, batch_size):.1f}")
    printed = PRINTED.get(row, ("-", "-", "-"))
    speed = PRINTED_SPEED if row == "PTB" else "-"
    print(f"| {row} | LR | LP | F1 | sentences/s one at a time | in batches of 100 |")
    print("|---|---|---|---|---|---|")
    given = f"ours, {'gold tags' if tags is None else f'tags of {tags}'}"
    print("| {} | {} | {} | {} | {} | {} |".format(given, *ours, *speeds))
    print("| the paper | {} | {} | {} | {} | - |".format(*printed, speed))


if __name__ == "__main__":
    main(*sys.argv[1:])
