from __future__ import annotations

from handler import SchemaValidator, Toolkit

kit = Toolkit()
numbers = SchemaValidator({"type": "numbers"})  # 9: JSON Schema has no such type
