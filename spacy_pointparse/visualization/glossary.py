"""The meaning of constituent labels, and of tags that spaCy does not explain."""

import spacy

GLOSSARY = {
    # Penn Treebank style: WSJ, GUM, GENTLE, MASC, CRAFT, GENIA, the Arabic treebank
    "ADJP": "adjective phrase",
    "ADVP": "adverb phrase",
    "CONJP": "multi-word conjunction, as in 'as well as'",
    "FRAG": "fragment that is not a full clause",
    "INTJ": "interjection",
    "LST": "list item marker, with its punctuation",
    "NAC": "words that belong together inside a noun phrase but are not a phrase",
    "NML": "modifier inside a noun phrase, before its head",
    "NP": "noun phrase",
    "NX": "inner part of a noun phrase, as when two share their modifiers",
    "PP": "prepositional phrase",
    "PRN": "parenthetical",
    "PRT": "verb particle, as in 'give up'",
    "QP": "quantifier phrase inside a noun phrase, as in 'more than ten'",
    "RRC": "reduced relative clause",
    "S": "clause",
    "SBAR": "clause introduced by a conjunction or a wh-phrase",
    "SBARQ": "question with a wh-phrase",
    "SINV": "declarative clause with the subject after the verb",
    "SQ": "yes/no question, or the rest of a wh-question after the wh-phrase",
    "TOP": "root of the tree, over several constituents",
    "UCP": "coordination of unlike constituents",
    "VP": "verb phrase",
    "WHADJP": "adjective phrase with a wh-word, as in 'how old'",
    "WHADVP": "adverb phrase with a wh-word, as in 'when'",
    "WHNP": "noun phrase with a wh-word, as in 'which road'",
    "WHPP": "prepositional phrase with a wh-word, as in 'to whom'",
    "X": "constituent of unknown or uncertain type",
    "EDITED": "words that the speaker corrected or restarted (speech)",
    "CAPTION": "caption of a figure or table (CRAFT)",
    "CIT": "citation (CRAFT)",
    "HEADING": "heading (CRAFT)",
    "TITLE": "title (CRAFT)",
    # German (NEGRA, TIGER), Swedish (Talbanken)
    "AA": "superlative with 'am' (German)",
    "AP": "adjective phrase",
    "AVP": "adverb phrase",
    "CAC": "coordinated adpositions",
    "CAP": "coordinated adjective phrases",
    "CAVP": "coordinated adverb phrases",
    "CCP": "coordinated complementizers",
    "CH": "chunk of foreign or quoted words",
    "CNP": "coordinated noun phrases",
    "CO": "coordination of unlike constituents",
    "CPP": "coordinated prepositional phrases",
    "CS": "coordinated clauses",
    "CVP": "coordinated verb phrases",
    "CVZ": "coordinated infinitives with 'zu' (German)",
    "DL": "discourse-level constituent: juxtaposed clauses and fragments",
    "ISU": "idiom without regular structure",
    "MTA": "multi-word adjective",
    "NM": "multi-word number",
    "PN": "multi-word proper noun",
    "VROOT": "root of the tree",
    "VZ": "infinitive with 'zu' (German)",
    # French (FTB)
    "AdP": "adverb phrase (French)",
    "COORD": "coordinated constituent with its conjunction (French)",
    "SENT": "sentence (French)",
    "Sint": "internal clause, neither relative nor subordinate (French)",
    "Srel": "relative clause (French)",
    "Ssub": "subordinate clause (French)",
    "VN": "verb with its clitics and auxiliaries (French)",
    "VPinf": "infinitive phrase (French)",
    "VPpart": "participle phrase (French)",
    # Polish (Składnica)
    "ff": "finite verb, simple or compound (Polish)",
    "fl": "adjunct: a phrase not required by its head (Polish)",
    "fno": "noun phrase (Polish)",
    "fpm": "prepositional phrase (Polish)",
    "fps": "adverb phrase (Polish)",
    "fpt": "adjective phrase (Polish)",
    "fw": "complement: a phrase required by its head (Polish)",
    "wypowiedzenie": "utterance: the root of the tree (Polish)",
    "zdanie": "clause (Polish)",
}
TAGS = {
    "-LCB-": "left curly bracket",
    "-LSB-": "left square bracket",
    "-RCB-": "right curly bracket",
    "-RSB-": "right square bracket",
    "CODE": "markup or a transcriber's note, not a word (MASC)",
    "SU": "end of a slash unit, the sentence of a transcript (MASC)",
}


def explain(label: str) -> str | None:
    """Explain the label of a constituent or a tag. Falls back to `spacy.explain`. To
    add labels of your own, update `spacy_pointparse.visualization.glossary.GLOSSARY`.

    label (str): The label.
    RETURNS (Optional[str]): The explanation. If there is none, spaCy warns and None is
        returned.
    """
    return GLOSSARY.get(label) or TAGS.get(label) or spacy.explain(label)
