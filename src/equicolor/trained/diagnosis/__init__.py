"""What colour does: to a set beside another one, and to a trained network. Moves are measured, and a remedy named.

Every registered factor is tried, whoever registered it. ``_colors``, ``_distance`` and ``_fit`` look at the colours of
two sets, ``_network`` at the errors of a network, ``_recommend`` says what to do. Nothing is trained here, and nothing
written: that a remedy helps is for ``comparison`` to find out, and the report is the command's.
"""

from equicolor.trained.diagnosis._colors import Images, named_split
from equicolor.trained.diagnosis._diagnose import diagnose
from equicolor.trained.diagnosis._fit import Fit, Move
from equicolor.trained.diagnosis._network import Hold, ModelDiagnosis, diagnose_model, tries
from equicolor.trained.diagnosis._pictures import drawing_of_model, drawing_of_sets, plot_model, plot_sets
from equicolor.trained.diagnosis._recommend import Recommendation
from equicolor.trained.diagnosis._sets import ColorDiagnosis, diagnose_sets, steps_of_sets
from equicolor.trained.diagnosis._words import Words, words_of_model, words_of_sets

__all__ = [
    "ColorDiagnosis",
    "Fit",
    "Hold",
    "Images",
    "ModelDiagnosis",
    "Move",
    "Recommendation",
    "Words",
    "diagnose",
    "diagnose_model",
    "diagnose_sets",
    "drawing_of_model",
    "drawing_of_sets",
    "named_split",
    "plot_model",
    "plot_sets",
    "steps_of_sets",
    "tries",
    "words_of_model",
    "words_of_sets",
]
