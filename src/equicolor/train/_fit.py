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

from equicolor._tools.files import PARTIAL
from equicolor._tools.words import spoken_size
from equicolor.data import key
from equicolor.fusion import fuse_for_training
from equicolor.models import CanonicalizedModel
from equicolor.nn import faster_norms
from equicolor.train._canonical import begin_canonicalized
from equicolor.train._checkpoints import Checkpoints, guarded, load_checkpoint
from equicolor.train._data import ImageData
from equicolor.train._disk import CHECKPOINTS, disk_trouble, resume_command
from equicolor.train._errors import DivergedError, StoppedError, TrainingError
from equicolor.train._export import export
from equicolor.train._learner import Learner, new_optimizer
from equicolor.train._machine import alone, new_fabric, on_first, reproducible, summed
from equicolor.train._norm import share_batch_norms
from equicolor.train._progress import Bar, print_results
from equicolor.train._recipe import Recipe
from equicolor.train._recipe_files import write_recipe_file
from equicolor.train._record import Metrics, record_environment
from equicolor.train._restart import check_can_go_on, set_aside
from equicolor.train._run import DATA, ENVIRONMENT, LOCK, MODEL, RECIPE, Run, read_recipe
from equicolor.train._same_data import check_data, record_data
from equicolor.train._signals import asked_to_stop


def fit(recipe: Recipe, folder: str | os.PathLike[str], *, quiet: bool = False, loaded: ImageData | None = None) -> Run:
    """Trains a network by a recipe, into a folder that is new or empty.

    The folder then holds ``recipe.yaml``, ``data.json``, ``environment.json``, ``metrics.csv``, ``tensorboard/``,
    ``checkpoints/``, ``results.json`` and ``model/``, which :func:`equicolor.from_pretrained` reads.

    Args:
        recipe: what to train, and how.
        folder: the folder of the run.
        quiet: show no progress and no table.
        loaded: images that were read for another run; they are used if they are those of this one.

    Returns:
        The finished run.

    Raises:
        StoppedError: the run was stopped by Ctrl-C or SIGTERM, with a checkpoint; :func:`resume` goes on.
        DivergedError: the loss is no longer finite; the last good checkpoint is there.
        TrainingError: the folder cannot be written, or holds a run already.
    """
    return Session(recipe, Path(folder).expanduser(), fresh=True, quiet=quiet, loaded=loaded).run()


def resume(
    folder: str | os.PathLike[str], *, quiet: bool = False, restart: bool = False, loaded: ImageData | None = None
) -> Run:
    """Goes on with the run in a folder where it stopped, to the weights it would have had without stopping.

    Args:
        folder: the folder of the run.
        quiet: show no progress and no table.
        restart: begin again at step 0 where no whole checkpoint is left; what there is, is kept under other names.
        loaded: images that were read for another run; they are used if they are those of this one.

    Returns:
        The finished run; one that was finished before is returned as it is.

    Raises:
        TrainingError: there is no run, no checkpoint, or other images than those it started with; or as for
            :func:`fit`.
    """
    folder = Path(folder).expanduser()
    recipe = read_recipe(folder)
    if Run.is_finished(folder):
        return Run.read(folder)
    return Session(recipe, folder, fresh=False, quiet=quiet, restart=restart, loaded=loaded).run()


class Session:
    """One process's part of a run, from a start or a resumption to the end."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        fresh: bool,
        quiet: bool,
        restart: bool = False,
        loaded: ImageData | None = None,
    ) -> None:
        self.recipe, self.folder, self.fresh, self.quiet, self.restart = recipe, folder, fresh, quiet, restart
        self.loaded = loaded
        self.step, self.saved, self.seconds = 0, 0, 0.0
        self.newest: Path | None = None
        self.metrics: Metrics | None = None
        self.results: dict[str, dict[str, float]] = {}

    def run(self) -> Run:
        self.fabric = new_fabric(self.recipe)
        self.fabric.launch()
        self.first = self.fabric.is_global_zero
        self.quiet = self.quiet or not self.first
        self.folder = Path(self.fabric.broadcast(str(self.folder)))  # one name, though each process may have made one
        self.checkpoints = Checkpoints(self.folder / CHECKPOINTS)
        self._on_first(self._prepare_folder)
        lock = self.folder / LOCK
        with reproducible(self.recipe.deterministic), alone(lock) if self.first else nullcontext():
            if not self.fresh:
                self._on_first(lambda: check_can_go_on(self.folder, self.checkpoints, self.restart))
            self._build()
            try:
                self._restore_or_start()
                self._train()
            except BaseException:
                if self.metrics is not None:
                    self.metrics.close(failed=True)
                raise
            if self.metrics is not None:
                self.metrics.close()
            self._on_first(self._export)
        self.fabric.barrier()
        run = Run.read(self.folder)
        if not self.quiet:
            print_results(run.summary, f"{run.recipe.network} on {run.recipe.title}", self.folder / MODEL)
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
            self.data = ImageData(recipe, fabric.global_rank, fabric.world_size, self.loaded)
            introduction = self._new_bar()
            for line in self.data.introduction():
                introduction.say(line)
            begins = self.checkpoints.newest() is None
            self.learner = Learner(recipe, self.data.train, fabric.global_rank, fabric.world_size, begins)
        if isinstance(self.learner.model, CanonicalizedModel):
            self.seconds = begin_canonicalized(self.learner.model, recipe, self.data, fabric.device, begins, self.quiet)
        if fabric.world_size > 1:
            self.learner.model = share_batch_norms(self.learner.model, fabric.device)
        elif fabric.device.type == "cpu" and recipe.channels_last:
            faster_norms(self.learner.model)
        if recipe.compile:
            self.learner.model.compile()
        if recipe.fuse:
            share = recipe.batch_size // (recipe.accumulate * fabric.world_size)
            fuse_for_training(self.learner.model, self.learner.blank_images(share).to(fabric.device))
        self.learner.to(fabric.device)
        self.model = self.learner.model = fabric.setup_module(self.learner.model)
        if recipe.canonicalizer_training != "first":
            self.model.mark_forward_method("canonicalizer_loss")  # or processes would not share its gradients
        self.optimizer: Any = fabric.setup_optimizers(new_optimizer(recipe, self.model))

    def _restore_or_start(self) -> None:
        self._on_first(self._start_folder)
        path = self.fabric.broadcast(self.newest)
        if path is None:
            self._save()  # now, so that a disk without room for it is noticed now
        else:
            into: Any = {"model": self.model, "optimizer": self.optimizer}
            rest = load_checkpoint(path, self.data.steps, lambda: self.fabric.load(path, into, weights_only=True))
            self.fabric.strategy.precision.load_state_dict(rest["precision"])
            self.step, self.seconds, self.results = rest["step"], rest["seconds"], rest["results"]
            self.learner.count_on(rest.get("counts", {}))
            self.saved = self.step
        self._on_first(self._record_start)

    def _start_folder(self) -> None:
        """From here on the folder holds a run: data and network are there, and can be trained."""
        data = self.data.fingerprints()
        check_data(self.folder / DATA, data)
        try:
            if self.restart:
                set_aside(self.folder)
            if self.fresh:
                write_recipe_file(self.folder / RECIPE, self.recipe.to_yaml())
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
                    f"the disk of {self.folder} has {spoken_size(free)} left, too few for the checkpoints of this "
                    f"run, which need {spoken_size(needed)}"
                )
            columns = ["lr", "images_per_second", *self.learner.counted("in training")]
            splits = self.recipe.test_splits
            columns += [f"{split}_{kind}" for split in splits for kind in self.learner.counted(f"on {split}")]
            logged = max(self.step // n * n for n in (self.recipe.log_every, self.recipe.checkpoint_every))
            self.metrics = Metrics(self.folder, self.recipe.loggers, columns, self.step, logged)
            record_environment(self.folder / ENVIRONMENT, self.step)
        except OSError as error:
            raise disk_trouble(error, self.folder, "write the run into") from error

    # ---------------------------------------------------------------------------------------------- training

    def _train(self) -> None:
        recipe, steps = self.recipe, self.data.steps
        parts = iter(self.learner.training_batches(self.data, self.step))
        losses: list[Tensor] = []
        started = window = time.perf_counter()
        earlier = self.seconds
        self.learner.train_mode()
        with asked_to_stop() as stop, self._new_bar() as self.bar:
            while self.step < steps:
                losses.append(self._one_step(parts))
                self.step += 1
                self.bar.step()
                regular = self.step % recipe.log_every == 0
                stopping = self._agreed(stop.asked) if regular or self.fabric.world_size == 1 else False
                saving = self.step % recipe.checkpoint_every == 0 or self.step == steps
                evaluating = self._is_time_to_evaluate()
                if not (regular or saving or evaluating or stopping):
                    continue
                self._check_losses(losses)
                if regular or saving or evaluating:  # and not where it happens to stop: what was counted is saved then
                    self._log(len(losses), time.perf_counter() - window)
                losses = []
                if evaluating:
                    self._evaluate()
                if saving or stopping:
                    self.seconds = earlier + time.perf_counter() - started
                    self._save()
                if stopping and self.step < steps:
                    raise StoppedError(
                        f"stopped at step {self.step:,} of {steps:,}, with a checkpoint. Go on with "
                        f"{resume_command(self.folder)}"
                    )
                window = time.perf_counter()

    def _new_bar(self) -> Bar:
        return Bar(self.data.steps, self.step, not self.quiet, self.data.steps_per_epoch)

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
        self.learner.train_mode()
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
            "counts": self.learner.unfinished(),
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
