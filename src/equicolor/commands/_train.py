"""``equicolor train``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equicolor._tools.lists import listed, seeds_of
from equicolor._tools.tables import show_table
from equicolor.commands import _console as console
from equicolor.commands._registry import register_command
from equicolor.commands._settings import join, settings

if TYPE_CHECKING:
    from equicolor.train import Recipe


@register_command(place=10)
def train(
    *,
    recipe: str | None = None,
    data: str | None = None,
    root: Path | None = None,
    model: str | None = None,
    group: str | None = None,
    canonicalize: str | None = None,
    around: str | None = None,
    image_size: int | None = None,
    epochs: int | None = None,
    seeds: Sequence[str] = (),
    test: Sequence[str] = (),
    license_: str | None = None,
    folder: Path | None = None,
    dry_run: bool = False,
    resume: Path | None = None,
    restart: bool = False,
    set_: Sequence[str] = (),
) -> Any:
    r"""Trains a network, by one of the paper's recipes or by your own.

    The folder of the run holds all there is to know about it, and the trained network in model/. A run that was stopped
    or killed goes on with --resume and ends as if nothing had happened.

    Args:
        recipe: the name of one of the paper's recipes, or a YAML file; a variant after a colon, hue_shift_mnist:hue4.
        data: the data set, see 'equicolor data'; or your own images, a folder or a table: --data cells/
        root: the folder that holds the data, or your own images, in one folder for each class.
        model: the network, see 'equicolor models'; or one of another library with its pretrained weights, timm:NAME or
            torchvision:NAME. --set weights=FILE takes them from a file.
        group: the colour moves it is equivariant to, hue4 or hue4-sat3; none for the conventional network.
        canonicalize: the colour moves that are found and undone before the network looks, temp-tint or hue4; what finds
            them is trained first, without labels. It goes on learning with the network by
            --set canonicalizer_training=together
        around: a trained network, the folder of its run or model, that stays as it is, instead of --model and --group:
            only what finds the moves of --canonicalize is trained, in front of it and without labels.
        image_size: height and width that the network sees; by default those of the data set.
        epochs: how often it sees every image; of your own, by default ten times, or as often as makes 600 steps.
        seeds: train once for each, below the folder, and print mean ± deviation; --seeds 1 2 3, or 1,2,3. Of one
            alone, the folder holds its run.
        test: the splits that errors are reported on, --test test_a test_b; by default all test splits.
        license_: of the weights, for the card, by its identifier on the hub: mit, cc-by-4.0.
        folder: where the run goes, by default runs/DATA-MODEL-GROUP.
        dry_run: say what would be trained, and how long that takes, and write nothing.
        resume: the folder of a run to go on with; it knows everything else.
        restart: with --resume, begin again at step 0 where all checkpoints are lost or damaged; what is there is kept.
        set_: any other field of the recipe: --set lr=0.01 --set model_options.bias=true

    Example:
        equicolor train --data hue_shift_digits --model z2cnn --group hue4 --epochs 5 --test test_b \
            --folder runs/digits
    """
    named = {
        "data": data or ("folder" if root and not recipe else None),
        "data_options.root": None if root is None else str(root),
        "model": model,
        "group": group,
        "canonicalize": canonicalize,
        "around": around,
        "epochs": epochs,
        "test_splits": listed(test) or None,
        "license": license_,
    }
    overrides: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    chosen_seeds = seeds_of(seeds)
    overrides |= {"seed": chosen_seeds[0]} if len(chosen_seeds) == 1 else {}
    join(overrides, settings(set_))
    if resume is not None and (recipe or overrides or folder or seeds or image_size is not None or dry_run):
        raise ValueError("--resume takes no other options but --restart: what a run computes was decided when it began")
    if restart and resume is None:
        raise ValueError("--restart goes with --resume FOLDER: a new run begins at step 0 anyway")
    if resume is None and recipe is None and not (overrides.get("data") and (model or around)):
        raise ValueError(
            "say what to train: --recipe NAME, or --data NAME and --model NAME, or --data NAME, --canonicalize MOVES "
            "and --around FOLDER, or --resume FOLDER"
        )

    from equicolor import train as training

    if resume is not None:
        if training.has_seeds(resume):
            return training.resume_seeds(resume, restart=restart)
        return training.resume(resume, restart=restart)
    chosen = _recipe(recipe, overrides)
    if image_size is not None:
        chosen = chosen.at_size(image_size)
    place = folder or Path("runs") / _name(chosen)
    if dry_run:
        plan = training.dry_run(chosen)
        for table in plan.tables():
            show_table(table)
        times = f", {len(chosen_seeds)} times" if len(chosen_seeds) > 1 else ""
        console.note(f"Nothing was written. Without --dry-run, this is trained{times}, into {place}")
        return plan
    if len(chosen_seeds) > 1:
        return training.fit_seeds(chosen, chosen_seeds, place)
    return training.fit(chosen, place)


def _recipe(name: str | None, fields: Mapping[str, Any]) -> "Recipe":
    """The recipe of a name with some fields changed; or one of these fields, for images of the user's own."""
    from equicolor.data import is_own, resolve
    from equicolor.train import Recipe, recipe_for

    if name is not None:
        return Recipe.load(name, fields)
    own = is_own(resolve(fields["data"], fields.get("data_options.root"))[0])
    return recipe_for(fields) if own else Recipe.from_dict(fields)


def _name(chosen: Any) -> str:
    """Of the folder of a run."""
    name = f"{chosen.title}-{chosen.model.replace(':', '-')}-{chosen.group or 'conventional'}"
    if not chosen.canonicalize:
        return name
    return f"{name}-{'around-' if chosen.around else ''}{chosen.canonicalize.replace(':', '-')}"
