"""Address rules for URLs that authors write: the API, key sets, token endpoints.

An author does not own the function: the function's loopback has the Lambda Runtime API, its link-local neighbours have
credentials. A name is checked by the addresses that it resolves to, and the connection goes to one of those.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from handler.cold.records import record

Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"

# Networks are texts, because ipaddress loads at its first use in the function.
LOOPBACK = "loopback"
NO_TLS = "https is required"
METADATA = "fd00:ec2::/32"
"""AWS's own services on an instance. Source: the EC2 user guide, "Use the Instance Metadata Service"."""

NAT64 = "64:ff9b::/96"
IPV4_TRANSLATED = "::ffff:0:0:0/96"
ORDINARY_IPV6 = ("2000::/3", "fc00::/7")
"""Global unicast and private addresses. All others are for special purposes, or carry an IPv4 address."""


# Compiled at first use, because few URLs have a query.
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_KEY = r"(access|api)?(key|token)|auth|code|pass(wd|word)|pwd|secret|sig(nature)?"


@record(frozen=True, slots=True, kw_only=True)
class AddressRules:
    """The rules for an author's URLs. Private addresses are allowed, because functions in a VPC have their APIs there.

    ``local`` also allows http and loopback. ``hosts`` are names, or ``*.`` and a domain for all below it; none: any.
    ``runtime_api`` is the ``host:port`` of the Lambda Runtime API, which is always forbidden.
    """

    local: bool = False
    http_hosts: tuple[str, ...] = ()  # the hosts for which http and loopback are allowed
    hosts: tuple[str, ...] = ()
    runtime_api: str = ""

    def url_fault(self, scheme: str, host: str) -> str:
        """Return why a URL's scheme or host is forbidden; empty string if allowed. Its addresses are not known yet."""
        if scheme != "https" and not self.takes_http(host):
            return NO_TLS
        if self.hosts and not _is_named(host, self.hosts):
            return "STILE_UPSTREAM_HOSTS does not name this host"
        return ""

    def takes_http(self, host: str) -> bool:
        """Return whether requests to a host may be without TLS, and to loopback."""
        return self.local or _is_named(host, self.http_hosts)

    def address_fault(self, text: str, port: int, *, host: str = "") -> str:
        """Return why connections to an IP address of a host are forbidden; empty string if allowed."""
        address = ipaddress.ip_address(text)
        faults = [fault for each in _reachable_through(address) if (fault := _kind(each))]
        its_host, _, its_port = self.runtime_api.rpartition(":")
        if its_port == str(port) and (LOOPBACK in faults or str(address) == its_host.strip("[]")):
            return "the Lambda Runtime API"
        return next((fault for fault in faults if not (fault == LOOPBACK and self.takes_http(host))), "")


STRICT = AddressRules()


def is_unnameable(host: str) -> bool:
    """Return whether a host's name has no form that a resolver takes."""
    try:
        host.encode("idna")
    except UnicodeError:
        return True
    return False


def is_host_pattern(text: str) -> bool:
    """Return whether a text is the name of a host, or ``*.`` and a domain."""
    labels = text.removeprefix("*.").split(".")
    return all(
        0 < len(label) <= 63 and label.isascii() and label.replace("-", "").replace("_", "").isalnum()
        for label in labels
    )


def literal_fault(host: str, rules: AddressRules) -> str:
    """Return the fault of a host written as an address, in any form that resolvers accept; empty string for names."""
    import socket  # needed at deploy time only

    if host == "localhost" or host.endswith(".localhost"):
        return rules.address_fault("127.0.0.1", 0, host=host)
    try:
        return rules.address_fault(host, 0, host=host)
    except ValueError:
        pass
    try:
        # 0x7f000001, 2130706433, 0177.1
        return rules.address_fault(socket.inet_ntoa(socket.inet_aton(host)), 0, host=host)
    except (OSError, UnicodeError):
        return ""


def keys_in(url: str) -> dict[str, str]:
    """Map each parameter of a URL that is named as a key, token or password is, to its value."""
    pairs = [(name, value, re.findall(_WORD, name)) for name, value in parse_qsl(urlsplit(url).query)]
    return {name: value for name, value, words in pairs if words and re.fullmatch(_KEY, words[-1], re.IGNORECASE)}


def _is_named(host: str, patterns: Iterable[str]) -> bool:
    """Return whether a host is one of the named hosts, or below one of the domains."""
    name = host.lower().rstrip(".")
    named = [pattern.lower().rstrip(".") for pattern in patterns]
    return any(name.endswith(each[1:]) if each.startswith("*.") else name == each for each in named)


def _reachable_through(address: Address) -> Iterator[Address]:
    """Yield an address, or the IPv4 addresses in it that packets to it may reach."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
    elif address.ipv4_mapped:
        yield address.ipv4_mapped
    elif _is_in(address, NAT64, IPV4_TRANSLATED):
        yield ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    else:
        yield address
        yield from filter(None, (address.sixtofour, *(address.teredo or ())))


def _kind(address: Address) -> str:
    """Return the kind of a forbidden address; empty string if the address is allowed."""
    if address.is_loopback:
        return LOOPBACK
    if address.is_link_local:
        return "link-local"
    if address.is_multicast:
        return "multicast"
    if isinstance(address, ipaddress.IPv4Address):
        if address.packed[0] == 0:
            return "unspecified"
        return "reserved" if address.is_reserved else ""
    if _is_in(address, METADATA):
        return "metadata"
    return "" if _is_in(address, *ORDINARY_IPV6) else "reserved"


def _is_in(address: Address, *networks: str) -> bool:
    return any(address in ipaddress.ip_network(each) for each in networks)
