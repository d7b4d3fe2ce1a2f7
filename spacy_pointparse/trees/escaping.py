"""Escape words as leaves of bracketed trees, and unescape leaves."""

import re

# Whitespace, and the null characters of UTF-16 text read as UTF-8.
_SPACES = {chr(i): f"\\u{i:04x}" for i in range(0x3001) if chr(i).isspace() or not i}
_ROUND = {"(": "-LRB-", ")": "-RRB-"}
_BRACKETS = {**_ROUND, "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
PRINTED = str.maketrans({**_ROUND, **_SPACES})
_ESCAPED = str.maketrans({**_BRACKETS, **_SPACES})
_PLAIN = {code: char for char, code in {**_BRACKETS, **_SPACES}.items()}
_PLAIN.update({"\\/": "/", "\\*": "*", "\\u005c": "\\", "\\u003d": "="})
_CODES = re.compile("|".join(re.escape(code) for code in _PLAIN))
_CODE_LIKE = re.compile(r"\\(?=u[0-9a-f]{4})")  # a word that looks escaped already
_QUOTES = {"``": '"', "''": '"', "`": "'"}


def escape_word(word: str) -> str:
    """Escape a word to make it a leaf. All brackets are replaced by codes such as
    `-LRB-`, whitespace and null characters by codes such as `\\u0020`.

    word (str): The text of a token.
    RETURNS (str): The leaf.
    """
    return escape_text(_CODE_LIKE.sub(r"\\u005c", word), _ESCAPED)


def escape_text(text: str, codes: dict[int, str]) -> str:
    """Escape a word or label by a table such as `PRINTED`.

    text (str): The text.
    codes (Dict[int, str]): The code of each character to escape.
    RETURNS (str): The escaped text.
    """
    text = text.translate(codes)
    if text.startswith("0="):  # not a numbered leaf of a discontinuous tree
        text = f"0\\u003d{text[2:]}"
    # nltk would take a backslash before the closing bracket as escaping it.
    return f"{text[:-1]}\\u005c" if text.endswith("\\") else text


def unescape_word(word: str) -> str:
    """Unescape a leaf. Reverses `escape_word`, and replaces the Penn Treebank's `\\/`,
    `\\*` and quotes.

    word (str): The leaf.
    RETURNS (str): The text of the token.
    """
    if word in _QUOTES:
        return _QUOTES[word]
    return _CODES.sub(_get_plain, word)


def _get_plain(match: re.Match[str]) -> str:
    return _PLAIN[match[0]]
