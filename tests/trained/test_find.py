"""Which files names stand for, and what is said of those that cannot be used."""

import os
import socket

import pytest

from equicolor.trained import find_images

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="takes links and pipes")


@pytest.fixture
def folder(tmp_path):
    for name in ("photos/b.png", "photos/b/c.JPG", "photos/b.d/e.png", "photos/notes.txt", "elsewhere/x.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def found(folder, *names):
    """The files, and what was reported, by names inside of the folder."""
    bad = {}
    paths = find_images([str(folder / name) for name in names], bad.__setitem__)
    within = {os.path.relpath(name, folder): problem for name, problem in bad.items()}
    return [path.relative_to(folder).as_posix() for path in paths], within


def test_the_order_is_that_of_paths(folder):
    paths = [folder / name for name in found(folder, "photos")[0]]
    assert paths == sorted(paths)
    assert len(paths) == 3


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_reported(folder):
    (folder / "photos" / "b").chmod(0)
    try:
        names, bad = found(folder, "photos")
    finally:
        (folder / "photos" / "b").chmod(0o700)
    assert names == ["photos/b.d/e.png", "photos/b.png"]
    assert bad == {"photos/b": "the folder cannot be read (Permission denied)"}


def test_a_folder_that_fails_is_reported_and_the_rest_are_found(folder, monkeypatch):
    scan = os.scandir

    def fails(place):
        if str(place).endswith("b.d"):
            raise PermissionError(13, "Permission denied")
        return scan(place)

    monkeypatch.setattr(os, "scandir", fails)
    names, bad = found(folder, "photos")
    assert names == ["photos/b/c.JPG", "photos/b.png"]
    assert bad == {"photos/b.d": "the folder cannot be read (Permission denied)"}


def test_links_that_lead_nowhere_are_reported(folder):
    for name in ("gone.png", "gone", "gone.txt"):
        (folder / "photos" / name).symlink_to("nothing")
    (folder / "photos" / "self.png").symlink_to("self.png")
    names, bad = found(folder, "photos")
    assert len(names) == 3
    assert bad == {
        "photos/gone": "a link that leads nowhere (No such file or directory)",
        "photos/gone.png": "a link that leads nowhere (No such file or directory)",
        "photos/self.png": "a link that leads nowhere (Too many levels of symbolic links)",
    }
    assert found(folder, "photos/gone.png")[1] == {"photos/gone.png": bad["photos/gone.png"]}


def test_links_are_followed_but_not_in_circles(folder):
    (folder / "photos" / "a").symlink_to(folder / "elsewhere")
    for name in ("one", "two"):  # each leads to both: as many names as there are ways
        (folder / "elsewhere" / name).symlink_to(folder / "photos")
        (folder / "photos" / name).symlink_to(folder / "photos")
    (folder / "photos" / "up").symlink_to("..")
    for name in ("photos", "photos/**/*.*", "**/*.*"):
        names, bad = found(folder, name)
        assert [each for each in names if each.endswith("x.png")] == (
            ["elsewhere/x.png"] if name[0] == "*" else ["photos/a/x.png"]
        )
        assert len({os.path.realpath(folder / each) for each in names}) == len(names)
        assert all("a link that leads back to" in problem for problem in bad.values())
        assert "photos/up" in bad


def test_pipes_sockets_and_devices_are_reported_also_by_name(folder, monkeypatch):
    os.mkfifo(folder / "photos" / "pipe.png")
    os.mkfifo(folder / "photos" / "pipe.txt")
    monkeypatch.chdir(folder / "photos")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.png")
        expected = {
            "photos/pipe.png": "it is a named pipe, not a regular file",
            "photos/socket.png": "it is a socket, not a regular file",
        }
        assert found(folder, "photos")[1] == expected
        assert found(folder, "photos/pipe.png", "photos/socket.png") == ([], expected)
        assert found(folder, "photos/p*.png") == ([], {"photos/pipe.png": expected["photos/pipe.png"]})
    bad = {}
    assert find_images(["/dev/zero"], bad.__setitem__) == []
    assert bad == {"/dev/zero": "it is a device, not a regular file"}


def test_hidden_files_are_taken_by_name_only(folder):
    for name in (".DS_Store", "._b.png", ".cache/f.png"):
        (folder / "photos" / name).parent.mkdir(exist_ok=True)
        (folder / "photos" / name).touch()
    names, bad = found(folder, "photos", "photos/**/*.png")
    assert not any("/." in name for name in names)
    assert bad == {}
    assert found(folder, "photos/._b.png") == (["photos/._b.png"], {})


def test_a_glob_of_any_depth_finds_what_pythons_own_does(folder):
    for pattern in ("**/*.png", "photos/**/e.png", "photos/**", "*/**/b*/*", "p*/**/*.JPG", "photos/b*/**/*"):
        expected = sorted(path for path in folder.glob(pattern) if path.is_file())
        expected = expected or sorted(path for path in folder.glob(f"{pattern}/*") if path.is_file())
        assert found(folder, pattern)[0] == [path.relative_to(folder).as_posix() for path in expected]


def test_folders_may_lie_deep_in_each_other(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    try:
        assert len(found(folder, "photos")[0]) == 3
        assert find_images([str(folder)], lambda *_: None)
    finally:  # pytest tidies up some runs later, and cannot climb so deep
        for _ in range(1200):
            os.chdir("..")
            os.rmdir("d")


def test_a_name_that_is_not_utf8_is_found(folder):
    name = os.fsdecode(b"caf\xe9.png")
    try:
        (folder / "photos" / name).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    assert f"photos/{name}" in found(folder, "photos")[0]
