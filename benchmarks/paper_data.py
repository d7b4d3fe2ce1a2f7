"""Convert a treebank of the paper, for which you need a license, and check that it is
complete.

    python benchmarks/paper_data.py PTB assets/ptb corpus/paper
    python benchmarks/paper_data.py German assets/spmrl corpus/paper

The Penn Treebank is a folder of sections, 02 to 23 among them, with their files
(wsj_0201.mrg and so on). The folder of the SPMRL shared tasks holds
GERMAN_SPMRL/gold/ptb and so on, as distributed. If files are missing, lists them and
writes nothing.
"""

import sys
import tempfile
from pathlib import Path

from spacy_pointparse.training.convert import convert_treebank

SPLITS = ("train", "dev", "test")
# Number of sentences in each split: the standard splits of the Penn Treebank (the paper
# rounds), and the SPMRL splits by the paper's table.
COUNTS = {
    "PTB": (39_832, 1_700, 2_416),
    "Basque": (7_577, 948, 946),
    "French": (14_759, 1_235, 2_541),
    "German": (40_472, 5_000, 5_000),
    "Hebrew": (5_000, 500, 716),
    "Hungarian": (8_146, 1_051, 1_009),
    "Korean": (23_010, 2_066, 2_287),
    "Polish": (6_578, 821, 822),
    "Swedish": (5_000, 494, 666),
}
# Only their training sets of 5,000 sentences are used.
SMALL = {"Hebrew", "Swedish"}
SECTIONS = {"train": range(2, 22), "dev": [22], "test": [23]}


def list_files(treebank: str, folder: Path, split: str) -> list[Path]:
    """List the files or folders of a split."""
    if treebank == "PTB":
        return [folder / f"{section:02}" for section in SECTIONS[split]]
    gold = folder / f"{treebank.upper()}_SPMRL" / "gold" / "ptb"
    name = "train5k" if split == "train" and treebank in SMALL else split
    # The names of the Swedish files are in lower case.
    paths = [gold / name / f"{name}.{t}.gold.ptb" for t in (treebank, treebank.lower())]
    return [next((path for path in paths if path.exists()), paths[0])]


def strip_features(path: Path, folder: Path) -> Path:
    """Copy a file of the SPMRL shared tasks without the features after its tags, which
    are enclosed in pairs of number signs and may contain blanks."""
    copy = folder / path.name
    with path.open(encoding="utf8") as lines, copy.open("w", encoding="utf8") as kept:
        for number, line in enumerate(lines, 1):
            parts = line.split("##")
            if len(parts) % 2 == 0:
                sys.exit(f"{path}:{number}: unbalanced ## around features.")
            kept.write("".join(parts[::2]))
    return copy


def main(treebank: str, folder: Path, output: Path) -> None:
    if treebank not in COUNTS:
        sys.exit(f"The treebank must be one of {', '.join(COUNTS)}, not {treebank!r}.")
    files = {split: list_files(treebank, folder, split) for split in SPLITS}
    missing = [
        str(path) for split in SPLITS for path in files[split] if not path.exists()
    ]
    if missing:
        sys.exit("Missing files of {}:\n{}".format(treebank, "\n".join(missing)))
    outputs = {split: output / f"{split}.spacy" for split in SPLITS}
    for split, expected in zip(SPLITS, COUNTS[treebank]):
        found = convert(treebank, files[split], outputs[split])
        if found != expected:
            for path in outputs.values():
                path.unlink(missing_ok=True)
            sys.exit(
                f"{treebank} {split} has {found} sentences, not {expected}: a file is "
                f"missing or from another release. Files:\n"
                + "\n".join(map(str, files[split]))
            )


def convert(treebank: str, files: list[Path], output: Path) -> int:
    if treebank == "PTB":
        return convert_treebank(files, output)
    with tempfile.TemporaryDirectory() as folder:
        stripped = [strip_features(path, Path(folder)) for path in files]
        # Hyphens are part of labels in the SPMRL treebanks.
        return convert_treebank(stripped, output, separators="")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
