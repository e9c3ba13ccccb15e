"""A user's own images in a table."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from equicolor.data import DataNotFoundError, describe, load, splits_of
from original_formats import pixels, write_image


def write(path: Path, header: str, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Twelve images, a0 … a5 and b0 … b5."""
    for number in range(12):
        write_image(tmp_path / "img" / f"{'ab'[number // 6]}{number % 6}.png", (12, 10), (20 * number, 0, 0))
    return tmp_path


def lines(form: str, **options: Any) -> list[str]:
    """A line for each image; ``{file}``, ``{kind}`` and ``{number}`` of it."""
    return [form.format(file=f"img/{kind}{n}.png", kind=kind, number=n, **options) for kind in "ab" for n in range(6)]


def encoded(count: int = 12) -> list[bytes]:
    images = []
    for number in range(count):
        data = io.BytesIO()
        Image.fromarray(pixels(20, 24, 3, seed=number)).save(data, "PNG")
        images.append(data.getvalue())
    return images


def write_parquet(path: Path, **columns: Any) -> Path:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), path, row_group_size=5)
    return path


# ------------------------------------------------------------------------------------------------ what is read


def test_a_table_has_files_classes_splits_domains_and_groups(home: Path) -> None:
    rows = lines("{file},{kind},{split},lab {number},p{number}", split="train")
    rows[4:6] = [row.replace("train", "test_pink") for row in rows[4:6]]
    table = write(home / "cells.csv", "file,class,split,domain,group", *rows)
    train, test = load("table", table, "train"), load("table", table, "test_pink")
    assert (len(train), len(test), splits_of(table)) == (10, 2, ("train", "test_pink", "all"))
    assert test.classes == ("a", "b")
    assert test.labels.tolist() == [0, 0]
    assert test.images[:, 0, 0, 0].tolist() == [80, 100]
    assert test.domains is not None
    assert test.clusters is not None
    assert test.domains.values == ["lab 4", "lab 5"]
    assert test.clusters.values == ["p4", "p5"]
    assert len(load(table, split="all")) == 12
    assert train.image_size == 10  # of the files


def test_without_more_columns_than_two_it_is_cut_as_a_folder_is(home: Path) -> None:
    table = write(home / "cells.csv", "file,class", *lines("{file},{kind}"))
    write_image(home / "tree" / "a" / "0.png")
    for kind in "ab":
        for number in range(6):
            write_image(home / "tree" / kind / f"{number}.png", (12, 10), (20 * (number + 6 * (kind == "b")), 0, 0))
    for split in ("train", "val", "test"):
        ours, folder = load(table, split=split, seed=3), load(home / "tree", split=split, seed=3)
        assert ours.original_rows.tolist() == folder.original_rows.tolist()
        assert ours.images.equal(folder.images)


def test_csv_is_read_as_spreadsheets_write_it(home: Path) -> None:
    (home / "img" / "a, left.png").write_bytes((home / "img" / "a0.png").read_bytes())
    text = '\ufeffFile;Class ; age\r\n"img/a, left.png"; Größe "x" ;4\r\n\r\nimg/b0.png;normal;5\r\n;;\r\n'
    (home / "cells.csv").write_bytes(text.encode())
    images = load(home / "cells.csv", split="all")
    assert images.classes == ('Größe "x"', "normal")
    assert len(images) == 2
    (home / "cells.tsv").write_text("file\tclass\nimg/a0.png\tx\n")
    assert len(load(home / "cells.tsv", split="all")) == 1


def test_files_may_be_absolute_or_above_the_table(home: Path) -> None:
    table = write(home / "lists" / "cells.csv", "file,class", "../img/a0.png,a", f"{home / 'img' / 'b0.png'},b")
    assert load(table, split="all").images[:, 0, 0, 0].tolist() == [0, 120]


def test_classes_may_be_numbers_and_other_names_of_columns_are_known(home: Path) -> None:
    rows = [f"img/a{n}.png,{label},s{n}" for n, label in enumerate((10, 9, 2, 0))]
    images = load(write(home / "cells.csv", "file_name,label,slide", *rows), split="all")
    assert images.classes == ("0", "2", "9", "10")
    assert images.labels.tolist() == [3, 2, 1, 0]
    assert images.clusters is not None
    assert images.clusters.names == ("s0", "s1", "s2", "s3")


@pytest.mark.parametrize("form", ["bytes", "struct"])
def test_parquet_may_hold_the_images(home: Path, form: str) -> None:
    images: list[Any] = encoded()
    if form == "struct":
        images = [{"bytes": data, "path": None} for data in images]
        images[3] = {"bytes": None, "path": "img/a3.png"}
    table = write_parquet(home / "cells.parquet", image=images, label=[0, 1] * 6, patient=[n // 2 for n in range(12)])
    found = load(table, split="all", image_size=20)
    assert found.labels.tolist() == [0, 1] * 6
    assert found.image_size == load(table, split="train").image_size == 20  # of the images
    expected = Image.open(io.BytesIO(encoded()[5])).convert("RGB").crop((2, 0, 22, 20))
    assert bytes(found.images[5].permute(1, 2, 0).contiguous().numpy()) == expected.tobytes()
    batch = next(iter(load(table, split="all", in_memory=False).loader(4, num_workers=1)))
    assert len(batch.images) == 4


def test_no_image_of_a_parquet_file_is_decoded_to_read_its_columns(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = write_parquet(home / "cells.parquet", image=encoded(), label=[0, 1] * 6, group=list("abcdef") * 2)
    monkeypatch.setattr("PIL.Image.Image.load", lambda self: pytest.fail("an image was decoded"))
    assert describe(table).total == 12
    assert len(load(table, split="all", in_memory=False)) == 12


def test_parquet_may_name_files(home: Path) -> None:
    files = [f"img/{kind}{n}.png" for kind in "ab" for n in range(6)]
    table = write_parquet(home / "cells.parquet", file=files, **{"class": ["x", "y"] * 6, "split": ["train"] * 12})
    assert load(table).images[1, 0, 0, 0] == 20


def test_a_broken_image_of_a_table_is_named(home: Path) -> None:
    table = write_parquet(home / "cells.parquet", image=[*encoded(3), b"no image"], label=[0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"row 3 of .*cells\.parquet cannot be read as an image"):
        load(table, split="all")
    assert len(load(table, split="all", on_error="skip")) == 3


# ------------------------------------------------------------------------------------------------ groups


def test_a_table_keeps_a_slide_together_and_says_so(home: Path) -> None:
    table = write(home / "cells.csv", "file,class,group", *lines("{file},{kind},slide {number}"))
    parts = [load(table, split=split, seed=1) for split in ("train", "val", "test")]
    groups = [set(part.clusters.values) for part in parts if part.clusters is not None]
    assert sum(map(len, groups)) == 6
    assert [len(part) for part in parts] == [8, 2, 2]
    assert any("keep the images of each of 6 groups together" in note for note in describe(table).notes)
    assert describe(table, seed=1).groups == {"train": 4, "val": 1, "test": 1}


def test_without_groups_a_note_says_what_may_be(home: Path) -> None:
    note = "images of one slide or patient may be in both parts; give a 'group' column"
    table = write(home / "cells.csv", "file,class", *lines("{file},{kind}"))
    assert note in describe(table).notes[0]
    split = write(home / "split.csv", "file,class,split", *lines("{file},{kind},train"))
    assert describe(split).notes == ()


def test_groups_in_several_given_splits_are_noted(home: Path) -> None:
    rows = [f"img/a{n}.png,x,{split},p{n % 4}" for n, split in enumerate(["train"] * 4 + ["test"] * 2)]
    notes = describe(write(home / "cells.csv", "file,class,split,group", *rows)).notes
    assert notes == ("2 of 4 groups have images in several splits: p0 (test, train) and p1 (test, train)",)


# ------------------------------------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file,kind\nimg/a0.png,a", r"lacks the column class: expected file .* and class.*; it has file, kind"),
        ("name,age\nx,1", "lacks the columns file and class"),
        ("file,class,gruop\nimg/a0.png,a,p", "has a column 'gruop': did you mean 'group'"),
        ("file,class,splits\nimg/a0.png,a,p", "has a column 'splits': did you mean 'split'"),
        ("file,class,class\nimg/a0.png,a,b", "has the column 'class' twice"),
        ("file,class\nimg/a0.png,a\nimg/a1.png,a,b", "line 3 of .* has 3 entries, expected 2: file, class"),
        ("file,class\nimg/a0.png,a\nimg/a1.png,", "line 3 of .* has nothing in the column 'class'"),
        ("file,class,group\nimg/a0.png,a,\nimg/a1.png,a,p", "line 2 of .* has nothing in the column 'group'"),
        ("file,class\nimg/a0.png,a\nimg/a0.png,b", "line 2 and line 3 of .* name the same file, .*, as 'a' and as 'b'"),
        ("file,class\nimg/a0.png,a\n./img/a0.png,a", "a random cut could train on one and test on the other"),
        (
            "file,class,split\nimg/a0.png,a,train\nimg/../img/a0.png,a,test",
            "line 2 and line 3 of .* in the splits 'train' and 'test'",
        ),
        ("file,class,split\nimg/a0.png,a,all", "a split cannot be called 'all'"),
        ('file,class\n"img/a0.png,a', "is no readable CSV"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_in_a_line(home: Path, content: str, message: str) -> None:
    (home / "cells.csv").write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        load(home / "cells.csv", split="all")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named_by_its_row(home: Path) -> None:
    rows = lines("{file},{kind}")
    rows[3:5] = ["img/nowhere.png,a", "img/neither.png,a"]
    table = write(home / "cells.csv", "file,class", *rows)
    with pytest.raises(
        DataNotFoundError, match=r"line 5 of .*cells\.csv names the file img/nowhere\.png.*1 other rows"
    ):
        load(table, split="all", in_memory=False)
    with pytest.raises(DataNotFoundError, match="line 5"):
        describe(table)
    assert len(load(table, split="all", on_error="skip")) == 10


def test_what_is_no_table_is_said(home: Path) -> None:
    (home / "empty.csv").touch()
    write(home / "header.csv", "file,class")
    (home / "latin.csv").write_bytes("file,class\nimg/a0.png,Größe\n".encode("latin-1"))
    (home / "broken.parquet").write_bytes(b"no Parquet")
    for name, message in (
        ("empty.csv", "empty.csv is empty: expected the columns file"),
        ("header.csv", "lists no images"),
        ("latin.csv", "latin.csv is not UTF-8 .*: save it as 'CSV UTF-8'"),
        ("broken.parquet", "broken.parquet cannot be read .*: it is damaged"),
        ("img", "img is a folder, expected a table, .csv or .parquet"),
        ("nowhere.csv", "there is no table .*nowhere.csv: expected a CSV or Parquet file"),
    ):
        with pytest.raises((ValueError, DataNotFoundError), match=message):
            load("table", home / name)
    table = write_parquet(home / "cells.parquet", image=[1, 2], label=[0, 1])
    with pytest.raises(ValueError, match=r"the column 'image' of .* holds int64, expected encoded images"):
        load(table)
    with pytest.raises(ValueError, match=r"row 1 of .* has nothing in the column 'label'"):
        load(write_parquet(home / "nulls.parquet", image=encoded(2), label=[0, None]))


def test_strangers_of_a_test_split_are_refused_by_name(home: Path) -> None:
    rows = [*lines("{file},{kind},train")[3:9], "img/a0.png,a,test", "img/b5.png,c,test"]
    table = write(home / "cells.csv", "file,class,split", *rows)
    train, test = load(table), load(table, split="test")
    assert (train.classes, test.classes) == (("a", "b"), ("a", "b", "c"))
    with pytest.raises(ValueError, match="cells test has images of 'c', which is none of the 2 classes"):
        test.with_classes(train.classes)


def test_columns_that_are_not_used_are_said(home: Path) -> None:
    table = write(home / "cells.csv", "file,label,age,patient", *lines("{file},{kind},70,p{number}"))
    assert describe(table).layout == "a table of file, class (label), group (patient); not used: age"
