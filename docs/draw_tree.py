"""Draw the tree at the top of the README: `python docs/draw_tree.py`."""

from html import escape
from pathlib import Path

import spacy
from nltk import Tree

from spacy_pointparse.visualization.render import get_colors

DOCS = Path(__file__).parent
SENTENCE = "The quick parser reads the whole sentence before it points."
# The color of words, of tags, and of edges.
THEMES = {
    "light": ("#1f2328", "#59636e", "#8c959f"),
    "dark": ("#f0f6fc", "#9198a1", "#6e7681"),
}
GLYPH, GAP, ROW = 9.5, 18, 54  # wide enough for any sans-serif font


def parse_sentence() -> Tree:
    """Parse the sentence of the picture."""
    [sent] = spacy.load("en_pointparse_sm")(SENTENCE).sents
    return sent._.parse_tree


def draw_tree(tree: Tree, theme: str) -> str:
    """Draw a tree as SVG: each phrase one row above the highest one inside it."""
    ink, faint, line = THEMES[theme]
    bottom = (tree.height() - 2) * ROW + 20
    edges, nodes = [], []
    right = 0.0

    def draw_node(node: Tree) -> tuple[float, int]:
        """Draw what is below a node, then the node. Returns its middle."""
        nonlocal right
        label = escape(node.label())
        if not isinstance(node[0], Tree):
            word = escape(node[0])
            width = GLYPH * max(len(node[0]), len(node.label())) + GAP
            x, y = right + width / 2, bottom
            right += width
            nodes.append(
                f'<text x="{x:.1f}" y="{y + 5}" font-size="13" fill="{faint}">{label}'
                f'</text><text x="{x:.1f}" y="{y + 30}" fill="{ink}">{word}</text>'
            )
            return x, y
        ends = [draw_node(child) for child in node]
        x, y = (ends[0][0] + ends[-1][0]) / 2, bottom - (node.height() - 2) * ROW
        for end, below in ends:
            edges.append(f"M{x:.1f} {y + 13}v14H{end:.1f}V{below - 13}")
        width = GLYPH * len(node.label()) + 18
        color = get_colors().get(node.label(), "#dddddd")
        nodes.append(
            f'<rect x="{x - width / 2:.1f}" y="{y - 13}" width="{width}" height="26" '
            f'rx="8" fill="{color}"/><text x="{x:.1f}" y="{y + 5}" font-size="14" '
            f'font-weight="600" fill="#1f2328">{label}</text>'
        )
        return x, y

    draw_node(tree)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:.0f} '
        f'{bottom + 42}" width="{right:.0f}" height="{bottom + 42}" role="img">\n'
        f"<title>{escape(tree.pformat(margin=10**9))}</title>\n"
        f'<path d="{"".join(edges)}" fill="none" stroke="{line}"/>\n'
        f'<g text-anchor="middle" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="16">\n{chr(10).join(nodes)}\n</g>\n</svg>\n'
    )


if __name__ == "__main__":
    parsed = parse_sentence()
    for name in THEMES:
        picture = draw_tree(parsed, name)
        (DOCS / f"tree_{name}.svg").write_text(picture, encoding="utf8")
