"""The card as a page to read: README.md, with the front matter that the Hugging Face hub shows and searches."""

import hashlib
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from equicolor._tools.optional import require
from equicolor.color import ColorNormalization
from equicolor.files._card import Card
from equicolor.groups import group as as_group

#: The file with the page of a network, which the hub shows.
README = "README.md"
_TASKS = {"classification": "image-classification", "segmentation": "image-segmentation"}
#: The last line: whose page it is. Once another word of it is changed, the page is the user's.
_MARK = re.compile(r"\n<!-- written by equicolor, ([0-9a-f]{16}) -->\n\Z")
#: What a card says of the colours of images, in words.
_NORMALIZED: dict[ColorNormalization, str] = {
    "gray-world": "white-balanced by the grey world",
    "reinhard": "its colours normalised after Reinhard",
    "macenko": "its stains normalised after Macenko",
}


def readme(card: Card, name: str | None = None) -> str:
    """Writes the page of a network, for people to read, from its card.

    Args:
        card: the card of the network.
        name: ``"owner/name"`` where it is on the hub; by default the page is for a folder.

    Returns:
        The page, in Markdown.
    """
    title = name.split("/")[-1] if name else card.name
    parts = [
        f"---\n{_front_matter(card, title)}---\n",
        f"# {title}\n\n{_about(card)}",
        f"## How to use it\n\n{_use(card, name)}",
        f"## Images\n\n{_images(card)}",
        f"## Data\n\n{_data(card)}",
        f"## Metrics\n\n{_metrics(card)}",
        f"## Limits\n\n{_limits(card)}",
    ]
    if card.recipe:
        parts.append(f"## Recipe\n\n```yaml\n{_yaml(card.recipe)}```")
    text = "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
    return f"{text}\n<!-- written by equicolor, {_digest(text)} -->\n"


def is_ours(text: str) -> bool:
    """Whether a page is just as :func:`readme` wrote it, so that another may take its place."""
    mark = _MARK.search(text)
    return mark is not None and mark[1] == _digest(text[: mark.start()])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _yaml(values: Mapping[str, Any]) -> str:
    yaml = partial(require, purpose="writing model cards", install="equicolor")("yaml")
    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True))


def _front_matter(card: Card, title: str) -> str:
    task = _TASKS[card.task]
    values: dict[str, Any] = {"license": card.license} if card.license else {}
    values |= {"library_name": "equicolor", "pipeline_tag": task}
    values["tags"] = ["equicolor", "pytorch", "color-equivariance" if card.group else "color", task]
    errors = {split: error for split, found in card.metrics.items() if (error := found.get("error")) is not None}
    if errors:
        data = (card.data or {}).get("name") or "unknown"
        values["metrics"] = ["accuracy"]
        values["model-index"] = [
            {
                "name": title,
                "results": [
                    {
                        "task": {"type": task},
                        "dataset": {"name": f"{data} {split}", "type": data, "split": split},
                        "metrics": [{"type": "accuracy", "value": round(1 - error, 6)}],
                    }
                    for split, error in errors.items()
                ],
            }
        ]
    return _yaml(values)


def _about(card: Card) -> str:
    network = (card.architecture or {}).get("name") or card.source or "A network"
    size = f" of {card.parameters:,} parameters" if card.parameters else ""
    undone = (card.architecture or {}).get("canonicalize")
    if undone:
        moves = undone.get("group") if isinstance(undone, dict) else undone
        size += f", behind a canonicaliser that undoes the moves of `{moves}`"
    if card.group is None:
        return f"`{network}`{size}, a conventional network: its layers know no colour moves."
    return f"`{network}`{size}, on the group `{card.group}`.{_moves(card.group)}"


def _moves(name: str) -> str:
    """What the elements of a group do, in words; nothing of one that is not registered here."""
    try:
        group = as_group(name)
    except ValueError:
        return ""
    words = [group.describe(element) for element in group][:12]
    more = f", and {group.order - len(words)} more" if group.order > len(words) else ""
    return f" Its {group.order} colour moves: {', '.join(words)}{more}."


def _use(card: Card, name: str | None) -> str:
    own = "" if card.architecture else ", model=...  # the network that the weights belong to\n"
    lines = ["import equicolor as ec", "", f'model = ec.from_pretrained("{name or "path/to/this/folder"}"{own or ")"}']
    if own:
        lines.append(")")
    lines.append('logits = model(model.preprocess("image.jpg"))  # or an image of PIL\'s, an array, a tensor, a list')
    if card.task == "classification" and card.classes and len(card.classes) > 1:
        lines += ["names = model.card.classes", "print(names[int(logits.argmax(1))])"]
    return "```python\n" + "\n".join(lines) + f"\n```\n\nOr: `equicolor predict {name or 'FOLDER'} image.jpg`."


def _images(card: Card) -> str:
    plan = card.preparation
    if plan is None:
        return "How images were prepared in training was not recorded."
    how = "its short side scaled and the centre cut out" if plan.fit == "crop" else "both sides scaled"
    text = f"RGB in [0, 1]. Each image is fitted into {plan.side}×{plan.side} ({how})"
    if plan.crop:
        text += f", scaled to {plan.crop}×{plan.crop}, and its centre of {plan.image_size}×{plan.image_size} cut out"
    text += f", {_NORMALIZED[plan.color_normalization]}" if plan.color_normalization else ""
    text += ", and made grey." if plan.gray else "."
    if card.normalization:
        text += " Normalising is done inside of the network."
    if card.classes:
        shown = ", ".join(card.classes[:100]) + (", …" if len(card.classes) > 100 else "")
        text += f"\n\n{len(card.classes)} classes: {shown}."
    return text


def _data(card: Card) -> str:
    if not card.data:
        return "What it was trained on was not recorded."
    lines = [f"| {name} | {value} |" for name, value in card.data.items()]
    return "\n".join(["| | |", "| --- | --- |", *lines])


def _metrics(card: Card) -> str:
    if not card.metrics:
        return "None were recorded."
    names = list(dict.fromkeys(name for found in card.metrics.values() for name in found))
    rows = [
        f"| {split} | " + " | ".join("" if found.get(n) is None else f"{found[n]:.4f}" for n in names) + " |"
        for split, found in card.metrics.items()
    ]
    head = [f"| split | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    return "\n".join([*head, *rows]) + "\n\nErrors are fractions, of the end of the training."


def _limits(card: Card) -> str:
    lines = []
    if card.group is not None:
        lines.append(
            f"- Equivariant to the moves of `{card.group}`, and to no others: what lies between or beyond them has to "
            "be learnt from data."
        )
    if card.task == "classification":
        lines.append("- It tells its classes apart and knows no others: whatever it is shown, it names one of them.")
        lines.append("- Its probabilities are a softmax of logits. Nothing here says that they are calibrated.")
    lines.append("- The numbers above hold for the test splits above. Other cameras, stains or places are other data.")
    if card.preparation is None:
        lines.append(
            "- How images were prepared was not recorded: prepare them as in training, or expect other numbers."
        )
    return "\n".join(lines)
