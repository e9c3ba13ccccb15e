"""What an experiment is: it is run, and ends in an :class:`equicolor.comparison.Outcome`."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from equicolor.comparison import Heading, Outcome, Runner
from equicolor.experiments._setting import Setting

#: What stands above a report that repeats nothing.
_OURS = "Not an experiment of the paper: there are no published numbers to compare with."


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or one of our own.

    Attributes:
        name: on the command line.
        title: of its report.
        paper: which table or figure of the paper it repeats; empty for our own.
        about: one or two sentences on what is asked.
        run: the experiment itself: from what is asked for, and the means to train it, to what was found.
        quick: what the quick version does instead, in a sentence.
        place: in the list of experiments, which is sorted by it.
        differs: where it is known to differ from the paper, and why: a paragraph for each row, by how the row's label
            begins; by "" for what is true of any.
    """

    name: str
    title: str
    paper: str
    about: str
    run: Callable[[Setting, Runner], Outcome]
    quick: str
    place: int
    differs: Mapping[str, str] = field(default_factory=dict)

    def heading(self, quick: bool, networks: Collection[str] = ()) -> Heading:
        """Of its report.

        Args:
            quick: whether it is the quick version, which is not to be held against the paper.
            networks: those that are in it: differences of others are left out.
        """
        known = [
            text for row, text in self.differs.items() if not row or any(name.startswith(row) for name in networks)
        ]
        about = self.about if self.paper else f"{self.about} {_OURS}"
        return Heading(self.name, self.title, about, self.paper, self.quick if quick else "", () if quick else known)
