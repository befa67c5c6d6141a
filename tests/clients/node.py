"""Node.js as the lock files have it, one package a platform: machines have older ones."""

from __future__ import annotations

import platform
from pathlib import Path

NODE_ARCH = {"x86_64": "x64", "aarch64": "arm64"}


def node_of(modules: Path) -> Path:
    """The program, in a folder ``node_modules``."""
    return modules / f"node-linux-{NODE_ARCH.get(platform.machine(), 'unknown')}" / "bin" / "node"
