"""The numbers of an evaluation, by hand: plain PyTorch on the probabilities that were saved with it."""

import csv

import torch


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def by_hand(path, classes, positive):
    """Ten lines of plain PyTorch on the saved probabilities."""
    table = rows(path)
    y = torch.tensor([classes.index(row["true"]) for row in table])
    p = torch.tensor([[float(row[f"p({name})"]) for name in classes] for row in table], dtype=torch.float64)
    called, k = p.argmax(1), len(classes)
    recall = torch.stack([(called == c)[y == c].double().mean() for c in range(k)])
    precision = torch.stack([(y == c)[called == c].double().mean().nan_to_num() for c in range(k)])
    specificity = torch.stack([(called != c)[y != c].double().mean() for c in range(k)])
    pairs = [torch.sign(p[y == c, c][:, None] - p[y != c, c][None]).add(1).div(2).mean() for c in range(k)]
    conf, right = p.amax(1), (called == y).double()
    bins = [(conf >= b / 15) & (conf < (b + 1) / 15) for b in range(16)]
    each = {"sensitivity": recall, "specificity": specificity, "auc": torch.stack(pairs)}
    each["f1"] = (2 * precision * recall / (precision + recall)).nan_to_num()
    chosen = {name: float(v.mean() if positive is None else v[positive]) for name, v in each.items()}
    ece = sum(abs(float((right - conf)[inside].sum())) for inside in bins) / len(y)
    return chosen | {"error": float(1 - right.mean()), "balanced_accuracy": float(recall.mean()), "ece": ece}
