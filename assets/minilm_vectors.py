"""Word vectors out of the input embeddings of a BERT-like sentence transformer: those
of its whole words, in fewer dimensions (principal components), as the text that `spacy
init vectors` reads.

    python assets/minilm_vectors.py MODEL_FOLDER DIMENSIONS OUTPUT
"""

import sys
from pathlib import Path

import numpy
from safetensors.numpy import load_file

EMBEDDINGS = "embeddings.word_embeddings.weight"
# Past the Latin scripts the pieces are single characters.
LAST_LATIN = "\u024f"


def is_word(piece: str) -> bool:
    special = piece.startswith("[") and piece.endswith("]")
    return not special and not piece.startswith("##") and max(piece) <= LAST_LATIN


def reduce_dimensions(vectors: numpy.ndarray, dimensions: int) -> numpy.ndarray:
    centered = vectors - vectors.mean(axis=0)
    _, _, components = numpy.linalg.svd(centered, full_matrices=False)
    reduced = centered @ components[:dimensions].T
    return reduced / reduced.std()


def main(model: Path, dimensions: int, output: Path) -> None:
    pieces = (model / "vocab.txt").read_text(encoding="utf8").splitlines()
    rows = [row for row, piece in enumerate(pieces) if is_word(piece)]
    embeddings = load_file(model / "model.safetensors")[EMBEDDINGS][rows]
    with output.open("w", encoding="utf8") as file:
        file.write(f"{len(rows)} {dimensions}\n")
        for row, vector in zip(rows, reduce_dimensions(embeddings, dimensions)):
            numbers = " ".join(f"{number:.4f}" for number in vector)
            file.write(f"{pieces[row]} {numbers}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
