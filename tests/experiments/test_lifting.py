"""The demo: what it measures, and that it runs as a user would run it."""

import subprocess
import sys

import torch

from equicolor.experiments.lifting import CECONV, ORDERS, OURS, invertibility, lifting_equivariance, shapes


def test_our_hue_shift_is_invertible_at_every_order_and_ceconvs_at_1_and_3_only():
    errors = invertibility(shapes(16))
    assert max(errors[OURS]) < 1e-6
    for order, error in zip(ORDERS, errors[CECONV], strict=True):
        # the paper: above 7 % for all orders except 1 and 3
        assert (error == 0) if order in (1, 3) else (error > 0.07)


def test_our_lift_is_more_than_three_orders_of_magnitude_closer_to_equivariance():
    errors = lifting_equivariance(shapes(16))
    assert errors[OURS][0] == errors[CECONV][0] == 0
    for ours, theirs in zip(errors[OURS][1:], errors[CECONV][1:], strict=True):
        assert theirs > 1e3 * ours


def test_images_are_the_same_every_time():
    assert torch.equal(shapes(4), shapes(4))
    assert not torch.equal(shapes(4), shapes(4, seed=1))


def test_the_demo_prints_its_tables_and_writes_its_figure(tmp_path):
    command = [sys.executable, "-m", "equicolor.experiments.lifting", "--folder", str(tmp_path / "out")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert "Restored-image error" in run.stdout
    assert "Equivariance error" in run.stdout
    assert (tmp_path / "out" / "lifting.png").read_bytes().startswith(b"\x89PNG")
