"""What the command line does: one typed function for each command, which can be called from Python just as well.

They print what they find and return it. Heavy libraries are imported by the command that needs them, so that
``equicolor --help`` waits for none of them. A parameter that would be a word of Python's ends in an underscore, which
its option on the command line has not.
"""

from equicolor.commands._bench import bench
from equicolor.commands._evaluate import evaluate
from equicolor.commands._inspect import inspect
from equicolor.commands._lists import data, models
from equicolor.commands._predict import predict
from equicolor.commands._reproduce import reproduce
from equicolor.commands._sort import sort
from equicolor.commands._train import train

COMMANDS = (train, evaluate, predict, sort, inspect, reproduce, bench, models, data)

__all__ = ["COMMANDS", "bench", "data", "evaluate", "inspect", "models", "predict", "reproduce", "sort", "train"]
