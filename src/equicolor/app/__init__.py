"""A page to play with: recolour an image, look inside of networks, sort, diagnose; ``equicolor app`` serves it.

Files without ``tab`` in their names compute, and know nothing of gradio; a tab lays out what they found. The page takes
files from whoever sees it, so they are read with care (``_uploads``), and nothing else of the disk is shown. What any
program can ask of a trained network lives in ``trained``.
"""

from equicolor.app._page import Page, make_page
from equicolor.app._picture import Picture, example_pictures, read_picture

__all__ = ["Page", "Picture", "example_pictures", "make_page", "read_picture"]
