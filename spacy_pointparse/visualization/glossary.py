"""What the labels of constituents stand for."""

import spacy

GLOSSARY = {
    # Penn Treebank style: WSJ, GUM, GENTLE, MASC, CRAFT, GENIA, the Arabic treebank
    "ADJP": "adjective phrase",
    "ADVP": "adverb phrase",
    "CONJP": "conjunction of several words, as in 'as well as'",
    "FRAG": "fragment: a stretch of text that makes no whole clause",
    "INTJ": "interjection",
    "LST": "marker of a list item, with its punctuation",
    "NAC": "words that belong together inside a noun phrase and make no phrase",
    "NML": "part of a noun phrase, before its head",
    "NP": "noun phrase",
    "NX": "inner part of a noun phrase, as where two share their modifiers",
    "PP": "prepositional phrase",
    "PRN": "parenthetical",
    "PRT": "particle of a verb, as in 'give up'",
    "QP": "quantity inside a noun phrase, as in 'more than ten'",
    "RRC": "relative clause without relative pronoun and verb",
    "S": "clause",
    "SBAR": "clause with what introduces it: a conjunction or a wh-phrase",
    "SBARQ": "question with a wh-phrase",
    "SINV": "statement with the subject after the verb",
    "SQ": "yes/no question, or the part of a question after its wh-phrase",
    "TOP": "root of the tree, over several constituents",
    "UCP": "coordination of unlike constituents",
    "VP": "verb phrase",
    "WHADJP": "adjective phrase with a wh-word, as in 'how old'",
    "WHADVP": "adverb phrase with a wh-word, as in 'when'",
    "WHNP": "noun phrase with a wh-word, as in 'which road'",
    "WHPP": "prepositional phrase with a wh-word, as in 'to whom'",
    "X": "constituent of unknown or uncertain kind",
    "EDITED": "words that the speaker took back or began anew (speech)",
    "CAPTION": "caption of a figure or table (CRAFT)",
    "CIT": "citation (CRAFT)",
    "HEADING": "heading (CRAFT)",
    "TITLE": "title (CRAFT)",
    # German (NEGRA, TIGER), Swedish (Talbanken)
    "AA": "superlative with 'am' (German)",
    "AP": "adjective phrase",
    "AVP": "adverb phrase",
    "CAC": "coordination of adpositions",
    "CAP": "coordination of adjective phrases",
    "CAVP": "coordination of adverb phrases",
    "CCP": "coordination of words that introduce clauses",
    "CH": "chunk of foreign or quoted words",
    "CNP": "coordination of noun phrases",
    "CO": "coordination of unlike constituents",
    "CPP": "coordination of prepositional phrases",
    "CS": "coordination of clauses",
    "CVP": "coordination of verb phrases",
    "CVZ": "coordination of infinitives with 'zu' (German)",
    "DL": "part of discourse: clauses and fragments beside each other",
    "ISU": "idiom that has no regular structure",
    "MTA": "adjective of several words",
    "NM": "number of several words",
    "PN": "proper noun of several words",
    "VROOT": "root of the tree",
    "VZ": "infinitive with 'zu' (German)",
    # French (FTB)
    "AdP": "adverb phrase (French)",
    "COORD": "coordinated constituent, with its conjunction (French)",
    "SENT": "sentence (French)",
    "Sint": "clause inside another, neither relative nor subordinate (French)",
    "Srel": "relative clause (French)",
    "Ssub": "subordinate clause (French)",
    "VN": "verb with its clitics and auxiliaries (French)",
    "VPinf": "infinitive phrase (French)",
    "VPpart": "participle phrase (French)",
    # Polish (Składnica)
    "ff": "finite verb, simple or compound (Polish)",
    "fl": "adjunct: a phrase that its head does not ask for (Polish)",
    "fno": "noun phrase (Polish)",
    "fpm": "prepositional phrase (Polish)",
    "fps": "adverb phrase (Polish)",
    "fpt": "adjective phrase (Polish)",
    "fw": "complement: a phrase that its head asks for (Polish)",
    "wypowiedzenie": "utterance: the root of the tree (Polish)",
    "zdanie": "clause (Polish)",
}


def explain(label: str) -> str | None:
    """Say what the label of a constituent stands for; of other labels and of tags, what
    `spacy.explain` says.

    label (str): The label.
    RETURNS (Optional[str]): The explanation; None, with spaCy's warning, if there is
        none.
    """
    return GLOSSARY.get(label) or spacy.explain(label)
