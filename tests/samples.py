"""Lines of a treebank, and their trees once cleaned, for the tests that read them."""

LINES = [
    "(TOP (S (NP-SBJ (DT The) (NNS looms)) (VP (VBP hum)) (. .)))",
    "(TOP (S (NP (PRP We)) (VP (VBD left) (NP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
    "(. .)))",
    "(TOP (NP (NNS Geese)) (. !))",
]
PARSES = [
    "(S (NP (DT The) (NNS looms)) (VP (VBP hum)) (. .))",
    "(S (NP (PRP We)) (VP (VBD left) (NP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
    "(. .))",
    "(TOP (NP (NNS Geese)) (. !))",
]
BROKEN = "(TOP (S (NP (NN oops)) (VP (VB"


def parses(docs):
    return [doc._.parse_string for doc in docs]
