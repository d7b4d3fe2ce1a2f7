"""Words as leaves of bracketed trees, and leaves as words."""

import re

# A null is no white space, but what a file of UTF-16 has between its letters.
_SPACES = {chr(i): f"\\u{i:04x}" for i in range(0x3001) if chr(i).isspace() or not i}
_ROUND = {"(": "-LRB-", ")": "-RRB-"}
_BRACKETS = {**_ROUND, "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
PRINTED = str.maketrans({**_ROUND, **_SPACES})
_ESCAPED = str.maketrans({**_BRACKETS, **_SPACES})
_PLAIN = {code: char for char, code in {**_BRACKETS, **_SPACES}.items()}
_PLAIN.update({"\\/": "/", "\\*": "*", "\\u005c": "\\", "\\u003d": "="})
_CODES = re.compile("|".join(re.escape(code) for code in _PLAIN))
_CODE_LIKE = re.compile(r"\\(?=u[0-9a-f]{4})")  # in a word that is to be escaped
_QUOTES = {"``": '"', "''": '"', "`": "'"}


def escape_word(word: str) -> str:
    """Write a word as a leaf: brackets as `-LRB-` and the like, anywhere in it, and
    white space and nulls as `\\u0020` and the like.

    word (str): The text of a token.
    RETURNS (str): The leaf.
    """
    return _escape(_CODE_LIKE.sub(r"\\u005c", word), _ESCAPED)


def _escape(text: str, codes: dict[int, str]) -> str:
    text = text.translate(codes)
    if text.startswith("0="):  # else it could pass for the first of numbered leaves
        text = f"0\\u003d{text[2:]}"
    # To nltk, a backslash before the closing bracket would make it part of the word.
    return f"{text[:-1]}\\u005c" if text.endswith("\\") else text


def unescape_word(word: str) -> str:
    """Read a leaf as a word: what `escape_word` does is undone, and so are the Penn
    Treebank's `\\/`, `\\*` and quotes.

    word (str): The leaf.
    RETURNS (str): The text of the token.
    """
    if word in _QUOTES:
        return _QUOTES[word]
    return _CODES.sub(_get_plain, word)


def _get_plain(match: re.Match[str]) -> str:
    return _PLAIN[match[0]]
