"""``equicolor train`` as a user types it, on embedded data."""

import subprocess
import sys
from pathlib import Path


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
