"""Parse every sentence of every treebank, of any language and length.

    python benchmarks/parse_all.py ../shared/treebanks

Counts the sentences that do not become one tree over exactly their words. The longest
are longer than any that the pipeline was trained on.
"""

import sys
import time
from pathlib import Path

import spacy
import torch
from roundtrip import OPTIONS

from spacy_pointparse.tokens import make_doc
from spacy_pointparse.trees import read_trees


def main(folder: Path) -> int:
    torch.set_num_threads(1)
    nlp = spacy.load("en_pointparse_sm")
    parser = nlp.get_pipe("pointing_parser")
    total = wrong = 0
    print(f"{'file':<45}{'parsed':>8}{'wrong':>7}{'longest':>9}{'seconds':>9}")
    for path in sorted(folder.glob("*/*.mrg")):
        trees = read_trees(path, **OPTIONS.get(path.parent.name, {}))
        docs = (make_doc([tree], nlp.vocab) for tree in trees)
        start = time.perf_counter()
        parsed = bad = longest = 0
        for doc in parser.pipe(docs, batch_size=256):
            words = [token.text for token in doc if not token.is_space]
            leaves = [tree.leaves() for tree in doc._.parse_trees]
            bad += leaves != ([words] if words else [])
            parsed += 1
            longest = max(longest, len(words))
        seconds = time.perf_counter() - start
        name = f"{path.parent.name}/{path.name}"
        print(f"{name:<45}{parsed:>8}{bad:>7}{longest:>9}{seconds:>9.0f}", flush=True)
        total += parsed
        wrong += bad
    print(f"{'all':<45}{total:>8}{wrong:>7}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
