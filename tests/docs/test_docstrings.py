"""Public docstrings have one plain form: a sentence, Args, Returns, Raises, Shape, Example, in this order.

They are read by Griffe, as the site does, from the files: nothing is imported.
"""

import ast
import re
import textwrap

import pytest
import torch

import equicolor as ec
from public import PACKAGES, public

#: Where functions of tensors say the shapes of what they take and give.
OF_TENSORS = {"baselines", "color", "groups", "nn"}
#: The sections that describe arguments, and all that there are, by their place.
LISTS = {"parameters", "attributes"}
ORDER = {"text": 0, "parameters": 1, "attributes": 2, "returns": 3, "yields": 3, "raises": 4, "Shape": 5, "Example": 6}


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_have_the_form(package):
    wrong = [f"{thing.path}: {what}" for thing in public(package) for what in complaints(thing, package)]
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_name_of_equicolor_itself_has_an_example():
    ours = [thing for package in PACKAGES for thing in public(package) if thing.name in ec.__all__]
    assert len({thing.name for thing in ours}) > 25
    assert not [
        thing.path for thing in ours if not thing.parent.is_class and "\nExample:\n" not in thing.docstring.value
    ]


GOOD = """Turns hues.

Args:
    images: RGB.
    degrees: the angle.

Returns:
    Images.

Raises:
    ValueError: there are none.

Shape:
    ``(B, 3)`` to ``(B, 3)``.

Example:
    >>> 1 + 1
    2
"""


@pytest.mark.parametrize(
    ("said", "instead", "complaint"),
    [
        ("", "", None),
        ("Turns hues.", "Turns hues", "one sentence"),
        ("Turns hues.", "Turns hues. Slowly.", "one sentence"),
        ("degrees:", "degree:", "does not describe degrees"),
        ("degrees:", "degree:", "describes what is not there: degree"),
        ("images: RGB.\n    degrees:", "images, degrees:", "does not describe images, degrees"),
        ("Returns:\n    Images.\n\n", "", "does not say Returns"),
        ("Images.", "Images: those.", "colon"),
        ("Raises:\n    ValueError: there are none.\n\n", "", "does not say Raises ValueError"),
        ("Shape:\n    ``(B, 3)`` to ``(B, 3)``.\n\n", "", "does not say Shape"),
        ("Example:", "Hint:", "has sections ['Hint']"),
        ("Example:\n    >>> 1 + 1\n    2", ">>> 1 + 1\n2", "not below 'Example:'"),
        (">>> 1 + 1\n    2", "1 + 1", "no doctest"),
        ("Args:", "Shape:\n    Any.\n\nArgs:", "another order, or twice"),
    ],
)
def test_what_is_wrong_is_found(said, instead, complaint):
    griffe = pytest.importorskip("griffe")
    text = textwrap.indent(GOOD.replace(said, instead), "    ")
    head = "def turn(images: Tensor, degrees: float) -> Tensor:"
    code = f'{head}\n    """{text.strip()}\n    """\n    raise ValueError("none")\n'
    with griffe.temporary_visited_module(code, docstring_parser="google") as module:
        found = list(complaints(module["turn"], "color"))
    assert any(complaint in each for each in found) if complaint else not found


def complaints(thing, package):
    """What is wrong with a docstring."""
    if thing.docstring is None:
        if not is_inherited(thing):
            yield "has no docstring"
        return
    text = thing.docstring.value
    first, _, rest = text.partition("\n")
    if not first.endswith(".") or rest.strip("\n") == rest != "" or re.search(r"[.!?] [A-Z`]", first):
        yield f"begins with one sentence, on a line of its own, that ends in a full stop, not with {first!r}"
    sections = thing.docstring.parsed
    names = [section.title if section.kind.value == "admonition" else section.kind.value for section in sections]
    if not set(names) <= set(ORDER):
        yield f"has sections {sorted(set(names) - set(ORDER))}"
    elif names != sorted(set(names), key=lambda name: ORDER[name]):
        yield f"has its sections in another order, or twice: {', '.join(names)}"
    yield from wrong_example(text)
    if not (thing.is_function or thing.is_class):
        return
    yield from wrong_names(thing, described_by(thing))
    if thing.is_function:
        yield from wrong_results(thing, names, sections)
    if package in OF_TENSORS and takes_and_gives_tensors(thing) and "Shape" not in names:
        yield "does not say Shape"


def wrong_example(text):
    before, heading, example = text.partition("\nExample:\n")
    if ">>>" in before:
        yield "has an example that is not below 'Example:'"
    if heading and not example.lstrip().startswith(">>>"):
        yield "has an example that is no doctest"


def wrong_names(thing, described):
    if len(set(described)) < len(described):
        yield f"describes {sorted({name for name in described if described.count(name) > 1})} twice"
    wanted = [name for name in parameters(thing) if not name.startswith("_")]
    inherited = {name for base in bases(thing) for name in described_by(base)}
    if missing := [name for name in wanted if name not in described and name not in inherited]:
        yield f"does not describe {', '.join(missing)}"
    known = {*wanted, *(thing.all_members if thing.is_class else ())}
    if unknown := [name for name in described if name not in known]:
        yield f"describes what is not there: {', '.join(unknown)}"


def parameters(thing):
    """What has to be described: of a class, what it is made with."""
    made = thing.members.get("__init__") if thing.is_class else thing
    if made is not None:
        return [each.name.lstrip("*") for each in made.parameters if each.name not in ("self", "cls")]
    if "NamedTuple" in map(str, thing.bases):
        fields = (
            member for member in thing.members.values() if member.is_attribute and "property" not in member.labels
        )
        return [field.name for field in fields if field.annotation]
    return []


def wrong_results(thing, names, sections):
    given = str(thing.returns or "None")
    alone = thing.parent.is_class and not parameters(thing)  # a sentence says it all
    if given not in ("None", "NoReturn") and not alone and not {"returns", "yields"} & set(names):
        yield "does not say Returns"
    if given in ("None", "NoReturn") and "returns" in names:
        yield "says Returns, and returns nothing"
    if any(entry.name for section in sections if section.kind.value == "returns" for entry in section.value):
        yield "has a colon in the first line of Returns, which makes a name of what is before it"
    said = {str(entry.annotation) for section in sections if section.kind.value == "raises" for entry in section.value}
    if missing := raised(thing) - said:
        yield f"does not say Raises {', '.join(sorted(missing))}"


def raised(function):
    """The errors that a function raises itself, by name."""
    (tree,) = ast.parse(textwrap.dedent(function.source)).body
    found = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    errors = {ast.unparse(error.func) for error in found if isinstance(error, ast.Call)}
    return {name for name in errors if name[0].isupper()} - {"NotImplementedError"}


def takes_and_gives_tensors(thing):
    if thing.is_class:
        return "forward" in thing.members
    taken = [str(each.annotation) for each in thing.parameters]
    return any(each.startswith("Tensor") for each in taken) and str(thing.returns).startswith("Tensor")


def is_inherited(member):
    """Whether a base class, ours or PyTorch's, says what a method does."""
    if not member.parent.is_class:
        return False
    ours = any(member.name in base.members and base.members[member.name].docstring for base in bases(member.parent))
    return ours or hasattr(torch.nn.Module, member.name)


def bases(thing):
    return thing.mro() if thing.is_class else []


def described_by(thing):
    """The names below Args and Attributes."""
    lists = [each for each in thing.docstring.parsed if each.kind.value in LISTS] if thing.docstring else []
    return [entry.name.lstrip("*") for section in lists for entry in section.value]
