"""Reads damaged files in a process of its own, so that a crash, a hang or a hunger for memory is seen from outside."""

import contextlib
import io
import multiprocessing
import os
import random
import shutil
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faults.cases import CASES, Case
from faults.damage import damaged

#: No file takes a hundredth of that to read.
SECONDS = 120.0
#: How much a process may grow; what is read is less than a megabyte.
MEMORY = 3 << 30

_processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")


@dataclass
class Outcome:
    """Of a series of damaged files: how many were read all the same, how many refused, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def try_damaged(case: Case, folder: Path, seeds: range) -> Outcome:
    """Damages one file of ``case`` for each seed, and reads."""
    originals = folder / "originals"
    case.make(originals)
    if not case.always_refused:
        case.read(shutil.copytree(originals, folder / "undamaged"))  # or nothing is shown here
    outcome, left = Outcome(), list(seeds)
    while left:
        ours, theirs = _processes.Pipe(duplex=False)
        process = _processes.Process(target=_work, args=(case.name, folder, left, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            while left:
                if not ours.poll(SECONDS):
                    outcome.problems.append(f"{case.name}, seed {left.pop(0)}: hangs")
                    break
                kind, text = ours.recv()
                seed = left.pop(0)
                outcome.counts[kind] += 1
                if kind not in ("read", "refused"):
                    outcome.problems.append(f"{case.name}, seed {seed}: {text}")
        except EOFError:
            process.join()
            outcome.problems.append(f"{case.name}, seed {left.pop(0)}: the process ended with {process.exitcode}")
        finally:
            process.kill()
            process.join()
    return outcome


def _work(name: str, folder: Path, seeds: list[int], connection) -> None:
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    _limit_memory()
    case = CASES[name]
    for seed in seeds:
        connection.send(attempt(case, folder, seed))


def attempt(case: Case, folder: Path, seed: int) -> tuple[str, str]:
    """One damaged file: what came of it, and in words what is wrong with that."""
    chance = random.Random(f"{case.name} {seed}")
    place, originals = folder / "damaged", folder / "originals"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(originals, place)
    files = sorted(path for pattern in case.files for path in place.glob(pattern) if path.is_file())
    victim = chance.choice(files)
    others = [path.read_bytes() for path in files if path != victim]
    victim.write_bytes(damaged(victim.read_bytes(), chance, others))
    os.chdir(folder)  # where something that is executed would leave its mark
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            case.read(place)
        kind, text = "read", ""
    except case.expected as error:
        text = " ".join(str(error).split())
        names = any(part in text for part in (str(place), victim.name, *case.also_named))
        kind = "refused" if names and len(text) < 2500 else "unclear"
        text = f"{victim.relative_to(place)}: {type(error).__name__} {text[:300]}"
    except BaseException as error:
        kind, text = (
            "failed",
            f"{victim.relative_to(place)}: {type(error).__name__}: {' '.join(str(error).split())[:300]}",
        )
    if (folder / "executed").exists():
        kind, text = "executed", f"{victim.relative_to(place)} was executed"
    return kind, text


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
