"""Convert every tree of every treebank to pointings and back.

    python benchmarks/roundtrip.py ../shared/treebanks

Each tree is read and cleaned, converted to pointings, decoded from perfect scores, and
converted back. Counts the trees that print the same before and after.
"""

import sys
from pathlib import Path

import numpy
from nltk import Tree

from spacy_pointparse.pointing import decode, pointing_to_tree, tree_to_pointing
from spacy_pointparse.trees import build_tree, flatten_tree, read_trees, tree_to_string

# Treebanks that differ from the Penn Treebank's format.
OPTIONS = {
    "fo_farpahc": {"bare_empties": True},
    "fr_mcvf_late_1400_1740": {"bare_empties": True},
    "is_icepahc_2019": {"bare_empties": True},
    "ja_keyaki_open": {"bare_empties": True, "separators": "-=;"},
}


def survives(tree: Tree) -> bool:
    """Check that a tree is restored from its pointings."""
    words, tags, constituents = flatten_tree(tree)
    pointings = tree_to_pointing(constituents, len(words))
    general = numpy.zeros((len(words), len(words)))
    general[numpy.arange(len(words)), pointings.targets] = 1.0
    # Each word is a part by itself once, so all singleton scores are equal.
    decoded = decode(general, numpy.ones(len(words)))
    restored = pointing_to_tree(pointings._replace(targets=decoded))
    return tree_to_string(build_tree(words, tags, restored)) == tree_to_string(tree)


def main(folder: Path) -> int:
    total = lost = 0
    print(f"{'file':<45}{'trees':>8}{'survive':>9}{'longest':>9}")
    for path in sorted(folder.glob("*/*.mrg")):
        options = OPTIONS.get(path.parent.name, {})
        trees = list(read_trees(path, **options))
        kept = sum(survives(tree) for tree in trees)
        longest = max(len(tree.leaves()) for tree in trees)
        name = f"{path.parent.name}/{path.name}"
        print(f"{name:<45}{len(trees):>8}{kept:>9}{longest:>9}", flush=True)
        total += len(trees)
        lost += len(trees) - kept
    print(f"{'all':<45}{total:>8}{total - lost:>9}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
