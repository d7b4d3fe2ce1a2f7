"""A file or folder is written whole or not at all."""

import errno
import os

import pytest

from spacy_pointparse.util.files import walk_folder, write_folder, write_whole


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


@pytest.mark.parametrize("write", [write_whole, write_folder])
def test_full_disk_names_what_was_to_be_written(tmp_path, write):
    path = tmp_path / "out"
    with pytest.raises(OSError, match=r"No space left on device: '.*out'"), write(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_link_stays_a_link(tmp_path):
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    with write_whole(link) as path:
        path.write_text("all")
    assert link.is_symlink() and target.read_text() == "all"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_file_is_written_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with write_whole(pipe) as path:
        path.write_text("all")
    assert os.read(reader, 9) == b"all"
    os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe] and pipe.is_fifo()


def test_error_that_says_more_than_a_code_is_left_as_it_is(tmp_path):
    with pytest.raises(OSError) as info, write_whole(tmp_path / "out"):
        raise OSError("the disk is full")
    assert str(info.value) == "the disk is full"


def test_folder_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "model"
    with write_folder(path) as unfinished:
        (unfinished / "part").mkdir()
        (unfinished / "part" / "file").write_text("all")
        assert not path.exists()
    assert (path / "part" / "file").read_text() == "all"
    assert list(path.parent.iterdir()) == [path]


def test_files_of_a_folder_stay_if_writing_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("before", "after"):
        with write_folder(tmp_path) as unfinished:
            (unfinished / "file").write_text(text)
            (unfinished / text).touch()
    assert (tmp_path / "file").read_text() == "after"
    with pytest.raises(KeyError), write_folder(tmp_path) as unfinished:
        (unfinished / "file").write_text("ha")
        raise KeyError
    assert (tmp_path / "file").read_text() == "after"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "after",
        "before",
        "file",
    ]
    assert not list(tmp_path.parent.glob("*.unfinished"))


def test_folder_that_a_stopped_run_left_is_written_anew(tmp_path):
    (tmp_path / "model.unfinished").mkdir()
    (tmp_path / "model.unfinished" / "old").touch()
    with write_folder(tmp_path / "model") as unfinished:
        (unfinished / "new").touch()
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["new"]


def test_walk_lists_visible_files_in_order(tmp_path):
    for name in ("b.txt", "a/c.txt", "a/.hidden", ".git/config", "a.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = [str(path.relative_to(tmp_path)) for path in walk_folder(tmp_path)]
    assert found == ["a/c.txt", "a.txt", "b.txt"]
    assert walk_folder(tmp_path / "b.txt") == [tmp_path / "b.txt"]
