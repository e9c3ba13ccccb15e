"""The data sets, a file for each: its original format, a folder on disk to images and labels, and its description.

Every file here is imported, and registers what it describes; a new one need be named nowhere else. What several formats
share is in ``_arrays`` and ``_class_folders``; how sets are found, cut and loaded is not told here, but in ``data``.
"""

import importlib
import pkgutil

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)
