"""What the project costs, measured: one module for each benchmark, and the runner of all of them."""
