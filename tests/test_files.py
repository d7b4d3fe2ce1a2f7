"""A file is written whole or not at all."""

import pytest

from spacy_pointparse.files import write_whole


def test_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "out.txt"
    with write_whole(path) as unfinished:
        unfinished.write_text("all")
        assert not path.exists()
    assert path.read_text() == "all"
    assert list(path.parent.iterdir()) == [path]


def test_what_was_there_stays_if_writing_fails(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")
    with pytest.raises(KeyError), write_whole(path) as unfinished:
        unfinished.write_text("ha")
        raise KeyError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
