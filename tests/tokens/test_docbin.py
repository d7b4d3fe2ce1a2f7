"""Docs are read from .spacy files, and written line by line."""

import pytest
from spacy.tokens import DocBin

from spacy_pointparse.tokens.docbin import collect_docs, pack_docs, unpack_docs
from spacy_pointparse.util.resume import get_partial


def test_packed_docs_make_a_file(read_doc, vocab, tmp_path):
    docs = [read_doc("(UH Yes)"), read_doc("(UH No)")]
    docs[1].user_data["id"] = 7
    output = tmp_path / "out.spacy"
    lines = [pack_docs([doc], store_user_data=True) for doc in docs]
    get_partial(output).write_bytes(b"".join(lines))
    collect_docs(output, store_user_data=True)
    found = list(unpack_docs(output, vocab))
    assert [doc._.parse_string for doc in found] == ["(UH Yes)", "(UH No)"]
    assert found[1].user_data == {"id": 7}


@pytest.mark.parametrize("fault", [MemoryError, KeyboardInterrupt, OSError])
def test_faults_of_the_machine_are_not_called_damage(
    read_doc, vocab, tmp_path, monkeypatch, fault
):
    path = tmp_path / "docs.spacy"
    DocBin(docs=[read_doc("(UH Yes)")]).to_disk(path)

    def fail(*_):
        raise fault

    monkeypatch.setattr(DocBin, "get_docs", fail)
    with pytest.raises(fault):
        list(unpack_docs(path, vocab))
