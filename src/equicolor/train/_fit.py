"""``fit`` and ``resume``: a run in a folder, from the first step or from its last checkpoint.

The loop is written out, on Lightning Fabric, because it has to stop and go on between any two steps. Everything it
draws is a function of the seed and the step, so what a checkpoint holds is the network, the optimiser and a number.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from equicolor._tools.files import PARTIAL, write_text
from equicolor.data import key
from equicolor.models import CanonicalizedModel
from equicolor.nn import faster_norms
from equicolor.train._around import take_over
from equicolor.train._canonical import train_canonicalizer
from equicolor.train._checkpoints import Checkpoints, disk_trouble, guarded, resume_command
from equicolor.train._data import ImageData
from equicolor.train._errors import DivergedError, StoppedError, TrainingError
from equicolor.train._export import export
from equicolor.train._learner import Learner, new_optimizer
from equicolor.train._machine import alone, new_fabric, on_first, reproducible, summed
from equicolor.train._norm import share_batch_norms
from equicolor.train._progress import Bar, print_results
from equicolor.train._recipe import Recipe
from equicolor.train._record import Metrics, record_environment
from equicolor.train._run import CHECKPOINTS, DATA, ENVIRONMENT, LOCK, MODEL, RECIPE, Run, read_recipe
from equicolor.train._same_data import check_data, record_data
from equicolor.train._signals import asked_to_stop


def fit(recipe: Recipe, folder: str | os.PathLike[str], *, quiet: bool = False) -> Run:
    """Trains by a recipe, into a folder that is new or empty.

    The folder then holds ``recipe.yaml``, ``data.json``, ``environment.json``, ``metrics.csv``, ``tensorboard/``,
    ``checkpoints/``, ``results.json`` and ``model/``, which :func:`equicolor.from_pretrained` reads.

    Args:
        recipe: what and how.
        folder: of the run.
        quiet: no progress, no table.

    Raises:
        StoppedError: by Ctrl-C or SIGTERM, with a checkpoint; :func:`resume` goes on.
        DivergedError: the loss is no longer finite; the last good checkpoint is there.
        TrainingError: the folder cannot be written, or holds a run already.
    """
    return _Session(recipe, Path(folder).expanduser(), fresh=True, quiet=quiet).run()


def resume(folder: str | os.PathLike[str], *, quiet: bool = False) -> Run:
    """Goes on with the run in a folder where it stopped, to the weights it would have had without stopping.

    A finished run is returned as it is.

    Raises:
        TrainingError: there is no run in the folder, or its images are no longer those that it started with; and what
            :func:`fit` raises.
    """
    folder = Path(folder).expanduser()
    recipe = read_recipe(folder)
    if Run.is_finished(folder):
        return Run.read(folder)
    return _Session(recipe, folder, fresh=False, quiet=quiet).run()


class _Session:
    """One process's part of a run, from a start or a resumption to the end."""

    def __init__(self, recipe: Recipe, folder: Path, fresh: bool, quiet: bool) -> None:
        self.recipe, self.folder, self.fresh, self.quiet = recipe, folder, fresh, quiet
        self.step, self.saved, self.seconds = 0, 0, 0.0
        self.newest: Path | None = None
        self.metrics: Metrics | None = None
        self.results: dict[str, dict[str, float]] = {}

    def run(self) -> Run:
        self.fabric = new_fabric(self.recipe)
        self.fabric.launch()
        self.first = self.fabric.is_global_zero
        self.folder = Path(self.fabric.broadcast(str(self.folder)))  # one name, though each process may have made one
        self.checkpoints = Checkpoints(self.folder / CHECKPOINTS)
        self._on_first(self._prepare_folder)
        lock = self.folder / LOCK
        with reproducible(self.recipe.deterministic), alone(lock) if self.first else nullcontext():
            self._build()
            try:
                self._restore_or_start()
                self._train()
            finally:
                if self.metrics is not None:
                    self.metrics.close()
            self._on_first(self._export)
        self.fabric.barrier()
        run = Run.read(self.folder)
        if self.first and not self.quiet:
            print_results(run.summary, self.folder / MODEL)
        return run

    # ---------------------------------------------------------------------------------------------- before

    def _prepare_folder(self) -> None:
        """Fails before anything is read or computed, if the folder cannot take the run."""
        try:
            if self.fresh:
                self.folder.mkdir(parents=True, exist_ok=True)
                if Run.is_begun(self.folder):
                    raise TrainingError(
                        f"{self.folder} holds a run already: go on with it by {resume_command(self.folder)}, or choose "
                        "another folder"
                    )
                if any(path.suffix != PARTIAL for path in self.folder.iterdir()):
                    raise TrainingError(f"{self.folder} is not empty: choose a new folder for the run")
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"can be written")
        except OSError as error:
            raise disk_trouble(error, self.folder, "write the run into") from error

    def _build(self) -> None:
        recipe, fabric = self.recipe, self.fabric
        with fabric.rank_zero_first(local=True):  # one process downloads, the others find it there
            self.data = ImageData(recipe, fabric.global_rank, fabric.world_size)
        self.learner = Learner(recipe, self.data.train, fabric.global_rank, fabric.world_size)
        self._prepare_canonicalizer()
        if fabric.world_size > 1:
            self.learner.model = share_batch_norms(self.learner.model, fabric.device)
        elif fabric.device.type == "cpu" and recipe.channels_last:
            faster_norms(self.learner.model)
        if recipe.compile:
            self.learner.model.compile()
        self.learner.to(fabric.device)
        self.model = self.learner.model = fabric.setup_module(self.learner.model)
        if recipe.canonicalizer_training != "first":
            self.model.mark_forward_method("canonicalizer_loss")  # or processes would not share its gradients
        self.optimizer: Any = fabric.setup_optimizers(new_optimizer(recipe, self.model))

    def _prepare_canonicalizer(self) -> None:
        """Where the run begins, trains it, by every process alike, or takes over the network it is to learn around.

        Then freezes what is not to learn.
        """
        model, recipe = self.learner.model, self.recipe
        if not isinstance(model, CanonicalizedModel):
            return
        begins, began = self.checkpoints.newest() is None, time.perf_counter()
        if recipe.around is not None:
            if begins:
                classes = self.data.train.classes if recipe.task == "classification" else None
                take_over(model.network, recipe.around, classes)
            model.network.requires_grad_(False).eval()
            return
        if recipe.canonicalizer_steps and begins:
            model.canonicalizer.to(self.fabric.device)
            train_canonicalizer(
                model.canonicalizer, self.data.train, steps=recipe.canonicalizer_steps, seed=recipe.seed
            )
            self.seconds = time.perf_counter() - began
        if recipe.canonicalizer_training == "first":
            model.canonicalizer.requires_grad_(False).eval()

    def _restore_or_start(self) -> None:
        self._on_first(self._start_folder)
        path = self.fabric.broadcast(self.newest)
        if path is None:
            self._save()  # now, so that a disk without room for it is noticed now
        else:
            rest = self.fabric.load(path, {"model": self.model, "optimizer": self.optimizer}, weights_only=True)
            self.fabric.strategy.precision.load_state_dict(rest["precision"])
            self.step, self.seconds, self.results = rest["step"], rest["seconds"], rest["results"]
            self.saved = self.step
        self._on_first(self._record_start)

    def _start_folder(self) -> None:
        """From here on the folder holds a run: data and network are there, and can be trained."""
        data = self.data.fingerprints()
        check_data(self.folder / DATA, data)
        try:
            if self.fresh:
                write_text(self.folder / RECIPE, self.recipe.to_yaml(), durable=True)
            record_data(self.folder / DATA, data)
            self.checkpoints.folder.mkdir(exist_ok=True)
            self.checkpoints.remove_partial()
            for path in self.folder.glob(f".*{PARTIAL}"):
                if path.name != LOCK:
                    path.unlink()
            self.newest = self.checkpoints.to_go_on_from()
        except OSError as error:
            raise disk_trouble(error, self.folder, "write the run into") from error

    def _record_start(self) -> None:
        try:
            needed = 3 * self.checkpoints.size()
            free = shutil.disk_usage(self.folder).free
            if free < needed:
                raise TrainingError(
                    f"the disk of {self.folder} has {free / 1e6:,.0f} MB left, too few for the checkpoints of this "
                    f"run, which need {needed / 1e6:,.0f} MB"
                )
            record_environment(self.folder / ENVIRONMENT, self.step)
            columns = ["lr", "images_per_second", *self.learner.counted("in training")]
            splits = self.recipe.test_splits
            columns += [f"{split}_{kind}" for split in splits for kind in self.learner.counted(f"on {split}")]
            self.metrics = Metrics(self.folder, self.recipe.loggers, columns, self.step)
        except OSError as error:
            raise disk_trouble(error, self.folder, "write the run into") from error

    # ---------------------------------------------------------------------------------------------- training

    def _train(self) -> None:
        recipe, steps = self.recipe, self.data.steps
        parts = iter(self.data.training(self.step))
        losses: list[Tensor] = []
        started = window = time.perf_counter()
        earlier = self.seconds
        self.model.train()
        with asked_to_stop() as stop, self._new_bar() as self.bar:
            self.bar.say(f"training on {self.data.train!r}")
            while self.step < steps:
                losses.append(self._one_step(parts))
                self.step += 1
                self.bar.step()
                regular = self.step % recipe.log_every == 0
                stopping = self._agreed(stop.asked) if regular or self.fabric.world_size == 1 else False
                saving = self.step % recipe.checkpoint_every == 0 or self.step == steps or stopping
                evaluating = self._is_time_to_evaluate()
                if not (regular or saving or evaluating):
                    continue
                self._check_losses(losses)
                self._log(len(losses), time.perf_counter() - window)
                losses = []
                if evaluating:
                    self._evaluate()
                if saving:
                    self.seconds = earlier + time.perf_counter() - started
                    self._save()
                if stopping and self.step < steps:
                    raise StoppedError(
                        f"stopped at step {self.step:,} of {steps:,}, with a checkpoint. Go on with "
                        f"{resume_command(self.folder)}"
                    )
                window = time.perf_counter()

    def _new_bar(self) -> Bar:
        shown = self.first and not self.quiet
        return Bar(self.data.steps, self.step, shown, self.data.steps_per_epoch)

    def _one_step(self, parts: Iterator[Any]) -> Tensor:
        """One step of the optimiser; the mean loss of this process's share of the batch."""
        recipe, fabric = self.recipe, self.fabric
        # What a network draws by itself, as dropout does, is a function of seed, process and step as well.
        torch.manual_seed(int(key(recipe.seed, f"step {fabric.global_rank} {self.step}")) & 0x7FFFFFFFFFFFFFFF)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate(self.step, self.data.steps)
        total = torch.zeros((), device=fabric.device)
        for part in range(recipe.accumulate):
            batch = fabric.to_device(next(parts))
            with fabric.no_backward_sync(self.model, enabled=part + 1 < recipe.accumulate):
                loss = self.learner.training_step(batch, self.step * recipe.accumulate + part) / recipe.accumulate
                fabric.backward(loss)
            total += loss.detach()
        if recipe.clip is not None:
            fabric.clip_gradients(self.model, self.optimizer, max_norm=recipe.clip, error_if_nonfinite=False)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total

    def _is_time_to_evaluate(self) -> bool:
        if self.step == self.data.steps:
            return True
        epoch, inside = divmod(self.step, self.data.steps_per_epoch)
        return inside == 0 and self.recipe.evaluate_every > 0 and epoch % self.recipe.evaluate_every == 0

    @torch.no_grad()
    def _evaluate(self) -> None:
        self.model.eval()
        for split, batches in self.data.testing().items():
            self.bar.doing(f"testing {split}")
            for number, batch in enumerate(batches):
                self.learner.test_step(self.fabric.to_device(batch), number, split)
            self.results[split] = self.learner.take(f"on {split}")
        self.bar.doing("training")
        self.model.train()
        values = {f"{split}_{name}": value for split, kinds in self.results.items() for name, value in kinds.items()}
        if self.metrics is not None:
            self.metrics.add(self.step, self._epoch(), values)
            errors = ", ".join(f"{split} {kinds['error']:.2%}" for split, kinds in self.results.items())
            self.bar.say(f"step {self.step:,}, epoch {self._epoch():.1f}: error on {errors}")

    def _log(self, count: int, seconds: float) -> None:
        values = self.learner.take("in training")
        values["lr"] = self.optimizer.param_groups[0]["lr"]
        values["images_per_second"] = count * self.recipe.batch_size / seconds
        if self.metrics is not None:
            self.metrics.add(self.step, self._epoch(), values)
            self.bar.show(values)

    def _epoch(self) -> float:
        return self.step / self.data.steps_per_epoch

    def _check_losses(self, losses: list[Tensor]) -> None:
        """Finds the first loss that is not finite, of any process."""
        together = summed(self.fabric, torch.stack(losses))
        finite = torch.isfinite(together).cpu()
        if not finite.all():
            place = int((~finite).nonzero()[0])
            self._diverged(f"the loss became {float(together[place])} at step {self.step - len(losses) + place + 1:,}")

    def _diverged(self, what: str) -> None:
        raise DivergedError(
            f"{what}. The last good checkpoint, of step {self.saved:,}, is kept in "
            f"{self.checkpoints.folder}. Start again with a lower lr, a warmup, or clip"
        )

    def _agreed(self, asked: bool) -> bool:
        """Whether any process was asked to stop: all must stop at the same step."""
        if self.fabric.world_size == 1:
            return asked
        return bool(summed(self.fabric, torch.tensor(float(asked), device=self.fabric.device)) > 0)

    # ---------------------------------------------------------------------------------------------- saving

    def _save(self) -> None:
        self._check_weights()
        state = {
            "model": self.model,
            "optimizer": self.optimizer,
            "precision": self.fabric.strategy.precision.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "results": self.results,
        }

        def write() -> Path:
            if self.metrics is not None:
                self.metrics.flush()
            partial = self.checkpoints.partial(self.step)
            self.fabric.save(partial, state)
            return self.checkpoints.finish(self.step) if self.first else partial

        guarded(write, self.checkpoints, self.step)
        self.saved = self.step
        self.fabric.barrier()

    def _check_weights(self) -> None:
        """A loss can be finite and its gradient not: such weights are not saved."""
        tensors = [*self.model.parameters(), *(value for value in self.model.buffers() if value.is_floating_point())]
        bad = torch.stack([(~torch.isfinite(tensor.detach())).sum() for tensor in tensors]).sum()
        if summed(self.fabric, bad.float()) > 0:
            self._diverged(f"the weights are no longer finite after step {self.step:,}")

    def _export(self) -> None:
        export(self.recipe, self.data, self.checkpoints, self.folder)

    def _on_first(self, action: Callable[[], None]) -> None:
        on_first(self.fabric, action)
