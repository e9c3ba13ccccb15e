"""``equicolor train`` as a user types it, on embedded data."""

import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import equicolor as ec


def equicolor(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "equicolor", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def test_a_network_is_trained_evaluated_and_not_overwritten(tmp_path: Path) -> None:
    what = ["--data", "hue_shift_digits", "--model", "z2cnn", "--group", "hue3", "--folder", "runs/digits"]
    how = ["--set", "epochs=1", "--set", "batch_size=100", "--set", "model_options.width=4", "--set", "lr=0.01"]
    run = equicolor("train", *what, *how, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "test_b" in run.stdout
    folder = tmp_path / "runs" / "digits"
    names = {"recipe.yaml", "environment.json", "metrics.csv", "tensorboard", "checkpoints", "results.json", "model"}
    assert names <= {path.name for path in folder.iterdir()}

    tested = equicolor("evaluate", "runs/digits", "--data", "hue_shift_digits", "--split", "test_b", cwd=tmp_path)
    assert tested.returncode == 0, tested.stderr
    assert "error" in tested.stdout

    again = equicolor("train", *what, *how, cwd=tmp_path)
    assert again.returncode != 0
    assert "holds a run already" in again.stderr
    assert "Traceback" not in again.stderr


SMALL = "train --data hue_shift_digits --model z2cnn --group hue3 --epochs 1 --test test_b --folder cells"
FEW = ["--set", "train_size=200", "--set", "batch_size=100", "--set", "model_options.width=4"]


def test_several_seeds_are_trained_side_by_side_and_summed_up(tmp_path: Path) -> None:
    done = equicolor(*SMALL.split(), *FEW, "--seeds", "1", "2", "--license", "mit", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folders = [tmp_path / "cells" / f"seed-{seed}" for seed in (1, 2)]
    results = [json.loads((folder / "results.json").read_text())["results"]["test_b"]["error"] for folder in folders]
    mean, deviation = statistics.fmean(results), statistics.stdev(results)
    assert "mean ± deviation over seeds 1, 2" in done.stdout
    assert f"{mean:.2%} ± {deviation:.2%}" in done.stdout
    kept = json.loads((tmp_path / "cells" / "seeds.json").read_text())
    assert kept["summary"]["test_b"]["error"] == {"mean": mean, "deviation": deviation}
    assert json.loads((folders[1] / "model" / "config.json").read_text())["license"] == "mit"

    shutil.rmtree(folders[1])
    again = equicolor("train", "--resume", "cells", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads((tmp_path / "cells" / "seeds.json").read_text()) == kept

    other = equicolor(*SMALL.split(), *FEW, "--seeds", "1", "3", cwd=tmp_path)
    assert other.returncode == 1
    assert "cells holds the runs of another recipe" in other.stderr


def test_a_dry_run_says_what_would_be_trained_and_writes_nothing(tmp_path: Path) -> None:
    done = equicolor(*SMALL.split(), *FEW, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "200 images" in lines["trained"]
    assert "test_b 297" in lines["tested"]
    assert "10: 0, 1, 2" in lines["classes"]
    assert "28×28" in lines["image"]
    model = ec.create_model("z2cnn", "hue3", num_classes=10, width=4)
    assert f"z2cnn, hue3, {model.num_parameters:,} parameters" in lines["network"]
    assert "2: 1 epochs of 2" in lines["steps"]
    assert "s for an epoch" in lines["time"]
    assert "Nothing was written. Without --dry-run, this is trained, into cells" in done.stderr
    assert list(tmp_path.iterdir()) == []
