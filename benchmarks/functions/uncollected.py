"""The function without garbage collection, to tell its pauses from others."""

import gc

from handler.lambda_function import handler

__all__ = ["handler"]

gc.disable()
