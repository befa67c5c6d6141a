"""What tests may ask: servers on loopback, without TLS."""

from __future__ import annotations

from handler.http.addresses import AddressRules

LOCAL = AddressRules(local=True)
