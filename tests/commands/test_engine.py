"""The options of engines, and what is said where they do not belong together."""

import sys

import pytest

from equicolor import commands
from equicolor.trained import Actors


def test_actors_are_a_number_or_a_range():
    assert Actors.parse("4") == Actors(4, 4)
    assert Actors.parse("1:16") == Actors(1, 16)
    for wrong in ("0", "3:2", "many", "1:", ""):
        with pytest.raises(ValueError, match="one number, 4, or the fewest and the most, 1:16"):
            Actors.parse(wrong)


def test_an_actor_has_a_gpu_where_there_are_some_and_cores_to_decode_for_it():
    assert Actors().on({"CPU": 8, "GPU": 2}) == Actors(cpus=4, gpus=1)
    assert Actors().on({"CPU": 8}) == Actors(cpus=1, gpus=0)
    assert Actors(cpus=2, gpus=0.5).on({"CPU": 8, "GPU": 1}) == Actors(cpus=2, gpus=0.5)


def test_options_of_another_engine_are_refused_before_anything_is_read():
    with pytest.raises(ValueError, match="--actors are those of --engine ray"):
        commands.predict("nowhere", ["x.png"], actors="2")


def test_without_ray_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'equicolor\[ray\]'"):
        commands.predict("nowhere", ["x.png"], engine="ray")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'equicolor\[ray\]'"):
        commands.evaluate("nowhere", data=["digits"], engine="ray")
