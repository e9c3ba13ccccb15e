"""The paper's tables and figures, each as a measurement that anyone can repeat."""
