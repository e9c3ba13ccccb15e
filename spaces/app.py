"""The page of ``equicolor app`` as a Hugging Face Space."""

from equicolor.app import make_page

make_page().launch(host="0.0.0.0", port=7860)  # a Space is reached from outside of its container
