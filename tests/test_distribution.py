"""What would be published: a wheel and a source distribution, in order, that work where nothing else of ours is."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import equicolor as ec

ROOT = Path(__file__).parents[1]


def run(*command, cwd=None):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "EQUICOLOR"))}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=clean, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel, made from the source distribution, and that."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def test_both_are_as_the_index_wants_them_and_of_this_version(distributions):
    pytest.importorskip("twine")
    run(sys.executable, "-m", "twine", "check", "--strict", *distributions)
    assert [path.name for path in distributions] == [
        f"equicolor-{ec.__version__}-py3-none-any.whl",
        f"equicolor-{ec.__version__}.tar.gz",
    ]


def test_the_wheel_holds_the_package_and_the_recipes_and_nothing_else(distributions):
    names = zipfile.ZipFile(distributions[0]).namelist()
    assert {name.split("/")[0] for name in names} == {"equicolor", f"equicolor-{ec.__version__}.dist-info"}
    recipes = {path.name for path in (ROOT / "recipes").glob("*.yaml")}
    assert {name.split("/")[-1] for name in names if name.startswith("equicolor/recipes/")} == recipes
    assert "equicolor/py.typed" in names


def test_the_source_distribution_holds_no_results_and_nothing_that_was_built(distributions):
    with tarfile.open(distributions[1]) as file:
        first = {name.split("/")[1] for name in file.getnames()}
    assert {"src", "tests", "docs", "recipes", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"} <= first
    assert not first & {"results", "benchmarks", "site", "dist", "demo", "runs"}


def test_installed_into_an_empty_environment_it_makes_networks_and_answers_on_the_command_line(distributions, tmp_path):
    empty = tmp_path / "empty"
    venv.create(empty, with_pip=False)
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    paths = sysconfig.get_paths(scheme, vars={"base": str(empty), "platbase": str(empty)})
    python = Path(paths["scripts"]) / ("python.exe" if os.name == "nt" else "python")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", distributions[0])
    # PyTorch and the others are those of this environment: seconds, where downloads are minutes. What is editable in
    # it, our own source, is not found this way.
    (Path(paths["purelib"]) / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    program = """if True:
        import equicolor as ec, torch
        from equicolor.train import list_recipes
        model = ec.create_model("z2cnn", group="hue4", num_classes=10).eval()
        print(ec.__file__, tuple(model(torch.rand(2, 3, 28, 28)).shape), "hue_shift_mnist" in str(list_recipes()))
    """
    where, _, said = run(python, "-c", program, cwd=tmp_path).strip().partition(" ")
    assert Path(where).is_relative_to(empty)
    assert said == "(2, 10) True"
    assert run(Path(paths["scripts"]) / "equicolor", "--version", cwd=tmp_path).strip().endswith(ec.__version__)
