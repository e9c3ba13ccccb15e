"""Small helpers that every other package may use; they know nothing of colours, groups or networks."""
