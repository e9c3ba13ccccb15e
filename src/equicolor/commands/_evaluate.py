"""``equicolor evaluate``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from equicolor.commands import _console as console
from equicolor.commands._again import command_line
from equicolor.commands._engine import check_engine, pool
from equicolor.commands._evaluated import About, show, write
from equicolor.commands._evaluated_curves import Other, show_curves, write_curves
from equicolor.commands._registry import register_command
from equicolor.commands._sets import NamedSet, named_sets
from equicolor.commands._shared import DataSet, say_what_is_unknown

if TYPE_CHECKING:
    from equicolor.data import ImageSet
    from equicolor.trained import Actors, Engine, Evaluation, Opened


@register_command(place=20)
def evaluate(
    model: str,
    *,
    data: Sequence[str],
    root: Path | None = None,
    split: Sequence[str] = (),
    shift: str | None = None,
    curve: str | None = None,
    against: str | None = None,
    metrics: Sequence[str] = (),
    positive: str | None = None,
    limit: int | None = None,
    image_size: int | None = None,
    folder: Path = Path("evaluation"),
    batch_size: int = 256,
    engine: Literal["local", "ray"] = "local",
    actors: str | None = None,
    device: str = "auto",
    download: bool = False,
) -> "Evaluation | Mapping[Any, Any]":
    """Measures how good a network is on data sets: error, AUC, F1, confusions, calibration, … with intervals.

    Images are prepared as in its training: the card of the network says how. Classes are matched by name: a set may
    have fewer than the network knows, in any order.

    Below each number stands the interval that holds 95 % of 1,000 resamples: of the images, or of what belongs together
    (slides, patients) where the set says so. Where it says where images are from, each domain has a row of its own.

    With --curve, the error as a function of a colour shift of the whole set. Tables are printed, and written with the
    probabilities of every image and the plots into a folder, named by set. Files that are there are not overwritten:
    new ones get a number.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        data: one or several data sets, see 'equicolor data', or paths of your own folders.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which parts of them; by default test, and of a path all that begin so, test_pink, or else all images.
        shift: a colour shift of all images: hue:90, hue:uniform, sat:-0.2, temp:0.3, or several joined by commas.
        curve: hue, the error at shifts from 0° to 360°; sat or lum, from -0.5 to 0.5; temp, tint or exp, from -1 to 1;
            or any other colour move that is registered.
        against: with --curve, another network whose curve is drawn too; by default the plain one, if it was trained by
            the same recipe into the same folder. "none" for none.
        metrics: which to show, by default all: error, balanced_error, balanced_accuracy, auc, f1, iou, sensitivity,
            specificity, ece.
        positive: the class that sensitivity, specificity, F1 and AUC are of. Of two classes it is the second by
            default; of more, these are means over classes.
        limit: evaluate on a random sample of so many images.
        image_size: show the network images of another size than that of its training.
        folder: where CSV, JSON and PNG files go.
        batch_size: how many images at once.
        engine: local, this process; or ray, the cluster that RAY_ADDRESS names, or else one of this machine.
        actors: with --engine ray, how many processes hold the network: 4, or 1:16 for a pool that grows and shrinks;
            by default from 1 to as many as there is room for.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor evaluate runs/digits --data digits --shift hue:uniform
        equicolor evaluate runs/digits --data hue_shift_digits --split test_a test_b --metrics error,auc
        equicolor evaluate runs/digits --data digits --curve hue --limit 100
        equicolor evaluate equicolor/shapes-hue4 --data hue_shift_shapes3d --split test_a --curve hue --limit 50
    """
    from equicolor.metrics import chosen_metrics
    from equicolor.trained import default_shifts, evaluate_curve, open_model
    from equicolor.trained import evaluate as evaluate_once

    check_engine(engine, actors)
    shown = chosen_metrics(_listed(metrics))
    shifts = [] if curve is None else default_shifts(curve)
    if against is not None and curve is None:
        raise ValueError("--against is for --curve: say which, --curve hue")
    opened = open_model(model, device, image_size)
    say_what_is_unknown(opened)
    sets = named_sets(_listed(data), root, _listed(split))
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written should fail before it is computed
    about = About(model, opened, shift, limit, folder)
    again = command_line(
        "evaluate", model, data=_listed(data), root=root, split=_listed(split), shift=shift, curve=curve,
        against=against, metrics=_listed(metrics), positive=positive, limit=limit, image_size=image_size,
    )  # fmt: skip
    who = _cluster(model, image_size, pool(actors, None, device)) if engine == "ray" else None
    rival = None if curve is None else _rival(model, against, device, image_size)
    results: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    written: list[str] = []
    for each in sets:
        images = _load(each, about, download)
        if curve is None:
            with console.progress(f"evaluating {each.title}", len(images)) as advance:
                results[each.title] = evaluate_once(
                    opened.model, images, batch_size, advance, positive=positive, engine=who
                )
            written.append(write(about, each, images, results[each.title], shown, again))
        else:
            with console.progress(f"{curve} curve of {each.title}", len(images) * len(shifts)) as advance:
                found = evaluate_curve(
                    opened.model, images, curve, shifts, batch_size, advance, positive=positive, engine=who
                )
            results[each.title] = found
            if rival is not None:
                others = _load(each, replace(about, opened=rival), download)
                with console.progress(f"{curve} curve of the other network", len(others) * len(shifts)) as advance:
                    beside[each.title] = evaluate_curve(
                        rival.model, others, curve, shifts, batch_size, advance, positive=positive
                    )
    if curve is None:
        show(about, results, shown)
        console.note("\n".join(written))
    else:
        shown = shown if metrics else ("error", "ece")
        other = None if rival is None else Other(rival, beside)
        table = show_curves(about, curve, results, shown, other)
        write_curves(about, curve, sets, results, shown, other, table, again)
    return results if len(results) > 1 else next(iter(results.values()))


def _cluster(model: str, image_size: int | None, actors: "Actors") -> "Engine":
    """Actors that have the network."""
    from equicolor.trained import Packed, evaluate_on_ray

    return evaluate_on_ray(Packed.of(model, image_size), actors)


def _rival(model: str, against: str | None, device: str, image_size: int | None) -> "Opened | None":
    """The network whose curves are drawn beside, with a note where nobody asked for it."""
    from equicolor.trained import open_model, plain_beside

    if against == "none":
        return None
    place = against or plain_beside(model)
    if place is None:
        return None
    if against is None:
        console.note(f"Beside it, the plain network of the same recipe: {place} (--against none leaves it out)")
    return open_model(place, device, image_size)


def _listed(values: Sequence[str]) -> list[str]:
    """One name, as calls from Python may give it, or several."""
    return [values] if isinstance(values, str) else list(values)


def _load(chosen: NamedSet, about: "About", download: bool) -> "ImageSet":
    """The images of a set, with a note where the network was trained on some of them."""
    from equicolor.trained import seen_in_training

    opened: Opened = about.opened
    source = DataSet(chosen.name, chosen.root, chosen.split, about.shift, about.limit, download)
    images = source.load(opened, opened.model.task)
    seen = seen_in_training(opened, images, chosen.name, chosen.root)
    if seen:
        console.note(
            f"Note: the network was trained on {seen:,} of the {len(images):,} images of {chosen.title}. These numbers "
            "are better than on images that it has not seen."
        )
    return replace(images, name=chosen.label)
