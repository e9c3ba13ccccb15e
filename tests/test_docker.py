"""The container, as far as that can be checked without building it: what it installs and starts is there."""

import inspect
import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from equicolor.commands import list_commands

HOME = Path(__file__).parents[1]
DOCKERFILE = (HOME / "docker" / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((HOME / "docker" / "compose.yaml").read_text(encoding="utf-8"))


def instruction(name):
    """The list that an instruction has, in JSON."""
    return json.loads(re.findall(rf"^\s*{name} (\[.*\])$", DOCKERFILE, flags=re.MULTILINE)[-1])


def options_of(arguments):
    return [argument for argument in arguments if argument.startswith("--")]


def test_what_is_installed_are_extras_of_the_package():
    if sys.version_info < (3, 11):
        pytest.skip("reads pyproject.toml by tomllib")
    import tomllib

    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.search(r"^ARG EXTRAS=(.*)$", DOCKERFILE, flags=re.MULTILINE)[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    assert 'pip install --no-cache-dir "equicolor[${EXTRAS}]${VERSION}"' in DOCKERFILE
    assert "COPY" not in DOCKERFILE  # from the published wheel, not from these files


def test_there_are_builds_for_a_cpu_and_for_cuda_and_no_others():
    assert re.search(r"^ARG DEVICE=cpu$", DOCKERFILE, flags=re.MULTILINE)
    (cases,) = re.findall(r"case .*? esac", DOCKERFILE, flags=re.DOTALL)
    assert re.findall(r"^\s*(\S+)\)", cases, flags=re.MULTILINE) == ["cpu", "cuda", "*"]
    assert "exit 2" in cases


@pytest.mark.parametrize("arguments", [instruction("CMD"), *(each["command"] for each in COMPOSE["services"].values())])
def test_what_is_started_is_a_command_with_these_options(arguments):
    program, name = instruction("ENTRYPOINT")
    assert program == "equicolor"
    parameters = inspect.signature(list_commands()[name]).parameters
    for option in options_of(arguments):
        assert option.removeprefix("--").replace("-", "_") in parameters
    assert arguments[0] == "/model"
    assert arguments[arguments.index("--port") + 1] == re.search(r"^EXPOSE (\d+)$", DOCKERFILE, flags=re.MULTILINE)[1]


def test_the_container_runs_as_nobody_special_and_compose_listens_to_this_machine():
    assert re.search(r"^USER equicolor$", DOCKERFILE, flags=re.MULTILINE)
    for each in COMPOSE["services"].values():
        assert each["ports"] == ["127.0.0.1:8000:8000"]
        assert each["read_only"]
        assert all(volume.endswith(":/model:ro") for volume in each["volumes"])
    devices = {name: each["build"]["args"]["DEVICE"] for name, each in COMPOSE["services"].items()}
    assert devices == {"serve": "cpu", "serve-cuda": "cuda"}


def test_the_grace_of_compose_is_longer_than_a_request_may_take():
    for each in COMPOSE["services"].values():
        timeout = float(each["command"][each["command"].index("--timeout") + 1])
        assert float(each["stop_grace_period"].removesuffix("s")) > timeout
