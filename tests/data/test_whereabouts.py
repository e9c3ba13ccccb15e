"""Whereabouts: what is embedded, what is there, what is not, and where it belongs."""

from equicolor.data import list_datasets, original_file, whereabouts


def test_every_set_has_whereabouts(tmp_path):
    states = {name: whereabouts(name, tmp_path).state for name in list_datasets()}
    assert {name for name, state in states.items() if state == "embedded"} == {
        name for name in states if "digits" in name or "shapes" in name
    }
    assert "present" not in states.values()


def test_files_and_parquet_tables_are_found_where_load_looks_for_them(tmp_path):
    (tmp_path / "cifar10" / "data").mkdir(parents=True)
    assert whereabouts("cifar10", tmp_path).state == "absent"
    (tmp_path / "cifar10" / "data" / "train-00000-of-00001.parquet").touch()
    found = whereabouts("cifar10", tmp_path)
    assert (found.state, found.folder) == ("present", tmp_path / "cifar10")
    assert found.sizes == {"train": 50_000, "test": 10_000}
    assert found.source.startswith("hub: ")


def test_an_original_file_takes_the_place_of_embedded_images(tmp_path):
    (tmp_path / "shapes3d").mkdir()
    assert original_file("hue_shift_shapes3d", tmp_path) is None
    (tmp_path / "shapes3d" / "3dshapes.h5").touch()
    found = whereabouts("hue_shift_shapes3d", tmp_path)
    assert (found.state, found.folder) == ("present", tmp_path / "shapes3d")
    assert original_file("hue_shift_shapes3d", tmp_path) == tmp_path / "shapes3d" / "3dshapes.h5"
    assert whereabouts("saturation_shift_shapes3d", tmp_path).state == "embedded"  # drawn by the renderer alone
    assert original_file("cifar10", tmp_path) is None
