"""Print the scores that the workflow `english` has written.

python -m spacy project run english
python benchmarks/english.py metrics/english
"""

import json
import sys
from pathlib import Path
from typing import Any

TEST_SETS = {
    "masc": "MASC",
    "gum": "GUM",
    "gentle": "GENTLE",
    "craft": "CRAFT",
    "genia": "GENIA",
    "wsj": "WSJ sample",
}


def read_scores(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf8"))


def format_percent(value: float) -> str:
    return f"{100 * value:.2f}"


def main(folder: Path) -> None:
    print("| test set | R | P | F1 | complete | tags | rejected | raw F1 | raw sents |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, title in TEST_SETS.items():
        scores = read_scores(folder / f"{name}.json")
        raw = read_scores(folder / f"{name}_raw.json")
        percents = [
            scores["spans_constituents_r"],
            scores["spans_constituents_p"],
            scores["spans_constituents_f"],
            scores["constituents_complete"],
            scores["constituents_tag_acc"],
        ]
        cells = [
            title,
            *map(format_percent, percents),
            str(scores["constituents_rejected"]),
            format_percent(raw["spans_constituents_f"]),
            format_percent(raw["sents_f"]),
        ]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
