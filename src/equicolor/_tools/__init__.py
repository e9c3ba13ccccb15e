"""Small helpers that every other package may use; they know nothing of colours, groups or networks of ours.

Files that are complete or not there, pictures and tables, optional libraries, what something was computed with and on;
and what PyTorch leaves to be said about tensors and modules. Users do not import from here.
"""
