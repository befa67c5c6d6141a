"""Zip a folder that infra/build_artifact.sh has filled.

    zip_artifact.py FOLDER FILE

The bytes depend on those of the files alone: entries are sorted, and have one time and the same rights. The script runs
on the function's Python with nothing installed.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

EARLIEST = (1980, 1, 1, 0, 0, 0)  # that an entry can have
READABLE_FILE = 0o100644 << 16


def main() -> int:
    """Write the file, and print its name, its size and its digest."""
    folder, file = map(Path, sys.argv[1:])
    file.unlink(missing_ok=True)
    with zipfile.ZipFile(file, "x") as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), EARLIEST)
            entry.external_attr = READABLE_FILE
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    content = file.read_bytes()
    print(f"{file}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
