"""An existing CNN made equivariant: it is run to find out what it does, and its layers are replaced one by one.

What is true of any network of any author belongs here, nothing about those of ``models``; the layers that are put in
place of others are those of ``nn``.
``equicolor.convert`` is the function; whatever else lives here is imported as ``from equicolor.convert import ...``.
"""

from equicolor.convert._convert import Converted, convert

__all__ = ["Converted", "convert"]
