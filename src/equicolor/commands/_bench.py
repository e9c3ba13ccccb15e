"""``equicolor bench``."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from equicolor._tools.files import write_json, write_picture
from equicolor._tools.lists import listed
from equicolor._tools.tables import show_table
from equicolor.commands import _console as console
from equicolor.commands._again import command_line
from equicolor.commands._registry import register_command


@register_command(place=70)
def bench(
    *,
    quick: bool = False,
    floor: bool = False,
    fused: bool = False,
    calibrate: bool = False,
    parts: Sequence[str] = (),
    networks: Sequence[str] = (),
    groups: Sequence[str] = (),
    modes: Sequence[str] = (),
    rounds: int | None = None,
    batch: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    folder: Path = Path("bench"),
) -> dict[str, Any]:
    """Measures what colour equivariance costs: time, peak memory and multiply-adds, as ratios to a plain network.

    Everything that is compared runs in turn, in the same rounds: times are medians over the rounds, ratios medians of
    the ratios within them. Writes bench.json with all numbers and cost.png with the cost against n.

    Args:
        quick: a version of a minute or two: one network, few groups, small batches, of the compiler the lift alone.
        floor: also times each network without its transforms, eager: convolutions, norms and activations, the least
            that its time could be with these kernels.
        fused: also times networks whose glue between convolutions is compiled, see docs/speed.md.
        calibrate: measures single convolutions, and writes the constants by which algorithm=auto chooses best on this
            machine to calibration.json; it chooses by them where the environment variable EQUICOLOR_CALIBRATION names
            that file.
        parts: of networks (training step and inference of whole networks), canonical (ResNet-18 behind a
            canonicaliser), layers (one convolution at many sizes, and
            what algorithm=auto makes of it), lift (against PIL and kornia) and data (load, augment, lift); by default
            all.
        networks: of the zoo, see 'equicolor models'; by default resnet44, resnet18 and z2cnn.
        groups: of networks and layers, --groups hue4 hue4-sat3
        modes: eager, compiled; by default both.
        rounds: of each interleaved loop; by default 15, and 7 for layers.
        batch: images; by default 128 for z2cnn, lift and data, and 32 for everything else.
        threads: of the CPU; by default as many as PyTorch takes.
        device: where networks and layers run, cpu or cuda.
        folder: where bench.json and cost.png go.

    Example:
        equicolor bench --parts networks --networks z2cnn --groups hue4 --modes eager --rounds 3 --batch 8
    """
    import torch

    from equicolor._tools.devices import chosen_device
    from equicolor.bench import CALIBRATE, FULL, QUICK, calibration, plot_cost, tables
    from equicolor.groups import group
    from equicolor.models import list_models

    parts, networks, groups, modes = map(listed, (parts, networks, groups, modes))
    _check("--parts", parts, FULL.parts)
    _check("--modes", modes, FULL.modes)
    _check("--networks", networks, list_models(task="classification"))
    for name in groups:
        group(name)  # says what is wrong with it
    for option, number in (("--rounds", rounds), ("--batch", batch), ("--threads", threads)):
        if number is not None and number < 1:
            raise ValueError(f"{option} must be positive, got {number}")
    given: dict[str, Any] = {
        "parts": tuple(parts),
        "networks": tuple(networks),
        "network_groups": tuple(groups),
        "layer_groups": tuple(groups),
        "network_modes": tuple(modes),
        "modes": tuple(modes),
        "floor": floor,
        "fused": fused,
        "rounds": rounds,
        "layer_rounds": rounds,
        "batch": batch,
        "lift_batch": batch,
        "device": str(chosen_device(device)),
    }
    if calibrate and (quick or floor or fused or (parts and list(parts) != ["layers"])):
        raise ValueError("--calibrate measures layers: leave out --parts, --floor, --fused and --quick")
    whole = QUICK if quick else FULL
    plan = replace(CALIBRATE if calibrate else whole, **{name: value for name, value in given.items() if value})
    asked = "--floor" if floor else "--fused"
    if (floor or fused) and ("networks" not in plan.parts or "eager" not in plan.network_modes):
        raise ValueError(f"{asked} is measured of networks in eager mode: leave out --parts and --modes, or name these")
    which = {"quick": quick, "floor": floor, "fused": fused, "calibrate": calibrate, "parts": parts}
    which |= {"networks": networks, "groups": groups, "modes": modes}
    how = {"rounds": rounds, "batch": batch, "threads": threads, "device": device if device != "cpu" else None}
    results: dict[str, Any] = {"command": command_line("bench", **which, **how), "quick": quick}
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written should fail before it is measured
    tempfile.TemporaryFile(dir=folder).close()
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        for measured in plan.run(_watched):
            results |= measured
            write_json(folder / "bench.json", results)  # what is measured is not lost
    finally:
        torch.set_num_threads(before)
    written = [folder / "bench.json"]
    if "networks" in results:
        written.append(write_picture(folder / "cost.png", plot_cost(results["networks"])))
    if calibrate:
        constants = calibration(results["layers"], plan.device)
        written.append(write_json(folder / "calibration.json", constants))
        print(
            f"By these constants auto loses {constants['mean_loss']:.1%} on the better way, on average over the sizes "
            f"measured, and {constants['mean_loss_before']:.1%} by those in use. To choose by them: "
            f"export EQUICOLOR_CALIBRATION={(folder / 'calibration.json').resolve()}"
        )
    for table in tables(results):
        show_table(table)
    if quick:
        print("This was the quick version: small batches and few rounds. Its numbers show that everything works.")
    console.note(f"{results['seconds']:.0f} s. Written: {', '.join(map(str, written))}")
    return results


def _watched(title: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """A line that stays, and a bar that is drawn between what is timed and not beside it."""
    console.note(title)
    return console.progress(title, total, unit="timings", still=True)


def _check(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for each in given:
        if each not in known:
            raise ValueError(f"{option} takes some of {', '.join(known)}, got {each!r}")
