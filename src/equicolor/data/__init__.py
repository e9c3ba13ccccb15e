"""The data: embedded sets, the paper's sets, colour shifts as protocols, and augmentation."""
