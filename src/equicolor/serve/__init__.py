"""A trained network behind HTTP: images in, predictions out, with limits on everything that a request may take.

Images are decoded, prepared and predicted by the same functions that ``equicolor predict`` uses, so that an answer is
that of the command. What happens to one request is in ``_app``, how requests become batches in ``_batcher``, what is
too much in ``_limits``. Nothing here trains, or writes files; who may ask is a matter for what stands in front.
"""

from equicolor.serve._app import make_app
from equicolor.serve._limits import Limits
from equicolor.serve._server import serve_forever
from equicolor.serve._service import Service

__all__ = ["Limits", "Service", "make_app", "serve_forever"]
