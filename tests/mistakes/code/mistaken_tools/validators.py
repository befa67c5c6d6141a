from __future__ import annotations

from stile import SchemaValidator, Toolkit

kit = Toolkit()
numbers = SchemaValidator({"type": "numbers"})  # 9: JSON Schema has no such type
