"""The parts of conversion: the dry run, the layers that take the place of others, and narrowing."""
