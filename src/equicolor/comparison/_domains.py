"""Results by domain: a test set that has several is also measured in parts, once, and kept with the run."""

from collections.abc import Mapping
from functools import cache, partial

from equicolor.comparison._columns import domain_column, domains_in
from equicolor.comparison._runner import Runner
from equicolor.data import ImageSet
from equicolor.train import Run
from equicolor.trained import Evaluation, evaluate


def results_in(run: Run, tests: Mapping[str, ImageSet], runner: Runner) -> dict[str, dict[str, float]]:
    """The results of a run by the names of columns: of each test split, and of its domains where there are several.

    Args:
        run: finished.
        tests: the test sets, by split.
        runner: that trained it, which keeps what is measured.
    """
    results = {split: dict(values) for split, values in run.results.items()}

    @cache
    def whole(split: str) -> Evaluation:
        with runner.progress(f"testing {run.folder.name} on {split}", len(tests[split])) as advance:
            return evaluate(run.model, tests[split], advance=advance)

    def numbers(split: str, domain: str) -> dict[str, float]:
        """Those that are known of the whole split, of a domain."""
        scores = {name: each.value for name, each in whole(split).by_domain[domain].metrics.items()}
        return {name: value for name in run.results[split] if (value := scores.get(name)) is not None}

    for split, images in tests.items():
        for domain in domains_in(images):
            name = domain_column(split, domain)
            results[name] = runner.runs.measured(run, name, partial(numbers, split, domain))
    return results
