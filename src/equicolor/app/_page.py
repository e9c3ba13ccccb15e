"""The page: its tabs, and how it is served. What it shows is computed by plain functions elsewhere."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equicolor._tools.optional import require
from equicolor.app._facts import facts
from equicolor.app._networks import set_stage
from equicolor.app._picture import Picture, example_pictures
from equicolor.app._tab_diagnose import diagnose_tab
from equicolor.app._tab_inside import inside_tab
from equicolor.app._tab_recolor import recolor_tab
from equicolor.app._tab_sort import sort_tab

#: The largest file that is taken, and how long it is kept, in seconds.
_MOST_BYTES, _KEPT = 50 << 20, 3600
#: Whose images are remembered at a time.
_MOST_VISITORS = 200
_STYLE = Path(__file__).with_name("style.css")
_FONTS = ("system-ui", "sans-serif")
_TITLE = "equicolor: what colour does to a network"
_HEAD = f"""<h1>{_TITLE}</h1><p>A network that was trained on some colours should know the same thing in others. Move
the colours of an image, and watch a plain network lose it while an equivariant one holds.</p>"""
_OWN = """Start the app with a network of your own, and all tabs show it:

```sh
equicolor app runs/mine                          # the folder of a run, or of a saved model
equicolor app owner/name                         # a network on the Hugging Face hub
equicolor app runs/mine --beside runs/plain      # beside the plain one of your own, of the same classes
equicolor app runs/mine --images some/images     # with examples of your own
```

For reasons of safety the page itself opens no folders: it sees what was given on the command line, and what is
uploaded."""


@dataclass(frozen=True)
class Page:
    """A page that is ready to be served: :meth:`launch` is gradio's, with safe settings.

    Attributes:
        blocks: of gradio.
    """

    blocks: Any

    def launch(self, *, port: int | None = None, host: str = "127.0.0.1", share: bool = False, **others: Any) -> Any:
        """Serves the page.

        Args:
            port: by default the first that is free from 7860 on.
            host: the address to listen at; by default this machine alone can reach it.
            share: make it reachable for everybody, through a tunnel of gradio's.
            others: of ``gradio.Blocks.launch``, such as ``prevent_thread_lock``.

        Returns:
            What gradio returns: the server, its local address and the shared one.
        """
        gr = require("gradio", "the app", "equicolor[app]")
        safe = {
            "max_file_size": _MOST_BYTES,
            "allowed_paths": [],
            "show_error": False,
            "mcp_server": False,
            "pwa": False,
        }
        looks = {
            "css_paths": [_STYLE],
            "theme": gr.themes.Default(primary_hue="blue", font=_FONTS, font_mono=("monospace",)),
        }
        still = {"footer_links": [], "run_history": False, "enable_monitoring": False, "ssr_mode": False, "quiet": True}
        still["state_session_capacity"] = _MOST_VISITORS
        at = {"server_name": host, "server_port": port, "share": share}
        return self.blocks.launch(**{**safe, **looks, **still, **at, **others})


def make_page(
    run: str | None = None,
    *,
    beside: str | None = None,
    examples: Sequence[Picture] = (),
    device: str = "cpu",
) -> Page:
    """The page on the networks that come with the package, or on one of the user's.

    Nothing is downloaded or reported to anybody, except for a ``run`` that is a name on the hub.

    Args:
        run: the folder of a run or of a saved model, or a name on the hub.
        beside: another network to compare it with.
        examples: images to begin with; by default those that come with the package.
        device: of PyTorch's.

    Returns:
        A page; its ``launch()`` serves it.

    Raises:
        ValueError: a network is no classifier, or the two do not know the same classes.
        ModuleNotFoundError: gradio is not installed.

    Example::

        make_page("runs/mine").launch()
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported
    gr = require("gradio", "the app", "equicolor[app]")
    stage, pictures = set_stage(run, beside, device), tuple(examples) or _usual_examples()
    with gr.Blocks(title=_TITLE, analytics_enabled=False, delete_cache=(_KEPT, _KEPT)) as blocks:
        gr.HTML(_HEAD, elem_classes="ec-head")
        image = gr.State(pictures[0])
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab("Recolour", elem_id="ec-tab-recolor"):
                recolor_tab(stage, pictures, image)
            with gr.Tab("Look inside", elem_id="ec-tab-inside") as tab:
                inside_tab(stage, pictures[0], image, tab)
            with gr.Tab("Sort", elem_id="ec-tab-sort") as tab:
                sort_tab(stage, tab)
            with gr.Tab("Diagnose", elem_id="ec-tab-diagnose"):
                diagnose_tab()
            with gr.Tab("Your model", elem_id="ec-tab-own"):
                gr.HTML(facts(stage))
                gr.Markdown(_OWN)
    return Page(blocks)


def _usual_examples() -> tuple[Picture, ...]:
    """Those of the package, cubes first: turned, they are what the plain network loses most."""
    return tuple(sorted(example_pictures(), key=lambda picture: not picture.name.startswith("cube")))
