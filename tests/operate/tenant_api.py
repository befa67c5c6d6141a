"""One process with the APIs of many tenants and a token endpoint, which notes each request that a stranger brought.

python -m tests.operate.tenant_api TENANTS PORT

Tenant N is at 127.0.2.N+1, or at ``/t/tenant-N/graphql`` of 127.0.0.1. ``/token`` exchanges tokens, ``/report`` tells
what was seen. Credentials are not verified, only held against the tenant that they were made for.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections import Counter
from typing import Any
from urllib.parse import parse_qs

BREAKS, FAILS, LATE, REFUSES = "tenant-7", "tenant-13", "tenant-34", "tenant-21"
"""The tenant that hangs up, the one that answers 500, the slow one, and the one that refuses each first token."""

LATE_S = 0.02


def address_of(tenant: str) -> str:
    """The address on loopback of a tenant."""
    return f"127.0.2.{int(tenant.rpartition('-')[2]) + 1}"


class Seen:
    """What the APIs have seen."""

    def __init__(self) -> None:
        self.strangers: list[str] = []
        self.requests: Counter[str] = Counter()
        self.exchanges: Counter[str] = Counter()
        self.open = self.most_open = 0

    def report(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"strangers": self.strangers[:20], "requests": self.requests, "most_open": self.most_open}

    def token_for(self, form: dict[str, list[str]]) -> dict[str, Any]:
        """A new token for a caller's."""
        claims = claims_of(form["subject_token"][0])
        person = f"{claims['org']['tenant']}.{claims['sub']}"
        self.exchanges[person] += 1
        token = f"of.{person}.{self.exchanges[person]}"
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600, "issued_token_type": ACCESS_TOKEN}


ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a token, unverified."""
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


class Connection:
    """One connection of a client."""

    def __init__(self, seen: Seen, address: str) -> None:
        self._seen = seen
        self._address = address
        self._tenant = ""

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any] | None:
        """The answer; ``None``: hang up."""
        if path == "/report":
            return 200, self._seen.report()
        if path == "/token":
            return 200, self._seen.token_for(parse_qs(body.decode()))
        by_path = path.startswith("/t/")
        tenant = path.split("/")[2] if by_path else headers["host"].partition(".")[0]
        credential = headers.get("authorization", "").removeprefix("Bearer ")
        self._hold(tenant, by_path=by_path)
        person, number = self._person(credential, tenant)
        self._seen.requests[tenant] += 1
        if tenant == BREAKS:
            return None
        if tenant == FAILS:
            return 500, {"message": "broken"}
        if tenant == REFUSES and number == 1:
            return 401, {"message": "another one"}
        asked = json.loads(body)
        name = "gold" if "gold" in asked["query"] else "me"
        return 200, {"data": {name: f"{tenant} {person} {asked['variables']['tag']}"}}

    def _hold(self, tenant: str, *, by_path: bool) -> None:
        if not by_path and self._address != address_of(tenant):
            self._seen.strangers.append(f"{tenant} at {self._address}")
        if not by_path and self._tenant not in ("", tenant):
            self._seen.strangers.append(f"{tenant} over the connection of {self._tenant}")
        self._tenant = tenant

    def _person(self, credential: str, tenant: str) -> tuple[str, int]:
        if credential.startswith("of."):
            _, owner, person, number = credential.split(".")
        else:
            claims, number = claims_of(credential), "0"
            owner, person = claims["org"]["tenant"], claims["sub"]
        if owner != tenant:
            self._seen.strangers.append(f"{tenant} got the credential of {owner}")
        return person, int(number)


async def serve(seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    connection = Connection(seen, writer.get_extra_info("sockname")[0])
    seen.open += 1
    seen.most_open = max(seen.most_open, seen.open)
    try:
        while head := await head_of(reader):
            first, *lines = head.split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            answer = connection.answer(first.split(" ")[1], headers, body)
            if answer is None:
                break
            if LATE in headers.get("host", "") or f"/{LATE}/" in first:
                await asyncio.sleep(LATE_S)
            raw = json.dumps(answer[1]).encode()
            kind = f"content-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
            writer.write(f"HTTP/1.1 {answer[0]} X\r\n{kind}".encode() + raw)
            await writer.drain()
    finally:
        seen.open -= 1
        writer.close()


async def head_of(reader: asyncio.StreamReader) -> str:
    """The head of the next request; empty at the end."""
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode().rstrip("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return ""


async def main(tenants: int, port: int) -> None:
    """Serve until the process is ended."""
    seen = Seen()
    addresses = ["127.0.0.1", *(address_of(f"tenant-{number}") for number in range(tenants))]
    server = await asyncio.start_server(lambda *streams: serve(seen, *streams), addresses, port, backlog=1024)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
