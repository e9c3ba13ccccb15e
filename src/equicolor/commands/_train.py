"""``equicolor train``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equicolor.commands._registry import register_command


@register_command(place=10)
def train(
    *,
    recipe: str | None = None,
    data: str | None = None,
    model: str | None = None,
    group: str | None = None,
    canonicalize: str | None = None,
    around: str | None = None,
    folder: Path | None = None,
    resume: Path | None = None,
    set_: Sequence[str] = (),
) -> Any:
    r"""Trains a network, by one of the paper's recipes or by your own.

    The folder of the run holds all there is to know about it, and the trained network in model/. A run that was stopped
    or killed goes on with --resume and ends as if nothing had happened.

    Args:
        recipe: the name of one of the paper's recipes, or a YAML file; a variant after a colon, hue_shift_mnist:hue4.
        data: the data set, see 'equicolor data'.
        model: the network, see 'equicolor models'.
        group: the colour moves it is equivariant to, hue4 or hue4-sat3; none for the conventional network.
        canonicalize: the colour moves that are found and undone before the network looks, temp-tint or hue4; what finds
            them is trained first, without labels. It goes on learning with the network by
            --set canonicalizer_training=together
        around: a trained network, the folder of its run or model, that stays as it is, instead of --model and --group:
            only what finds the moves of --canonicalize is trained, in front of it and without labels.
        folder: where the run goes, by default runs/DATA-MODEL-GROUP.
        resume: the folder of a run to go on with; it knows everything else.
        set_: any other field of the recipe: --set epochs=5 --set lr=0.01 --set model_options.bias=true

    Example:
        equicolor train --data hue_shift_digits --model z2cnn --group hue4 --set epochs=5 --set test_splits=test_b \
            --folder runs/digits
    """
    named = {"data": data, "model": model, "group": group, "canonicalize": canonicalize, "around": around}
    overrides: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    for pair in set_:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes KEY=VALUE, such as epochs=5, got {pair!r}")
        overrides[key] = value
    if resume is not None and (recipe or overrides or folder):
        raise ValueError("--resume takes no other options: what a run computes was decided when it began")
    if resume is None and recipe is None and not (data and (model or around)):
        raise ValueError(
            "say what to train: --recipe NAME, or --data NAME and --model NAME, or --data NAME, --canonicalize MOVES "
            "and --around FOLDER, or --resume FOLDER"
        )

    from equicolor.train import Recipe, fit
    from equicolor.train import resume as go_on

    if resume is not None:
        return go_on(resume)
    chosen = Recipe.load(recipe, overrides) if recipe else Recipe.from_dict(overrides)
    name = f"{chosen.data}-{chosen.model}-{chosen.group or 'conventional'}"
    if chosen.canonicalize:
        name += f"-{'around-' if chosen.around else ''}{chosen.canonicalize}"
    return fit(chosen, folder or Path("runs") / name)
