"""Publishes at which S3 answers one request, or all from one on, with a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.life.between import BROKEN, Between, Forward, Passing, Reply, Rule
from tests.life.publishers import bundles_at, write_edition
from tests.life.zygote import Zygote

NAMES = ("api/e1", "api/e2")
SLOW_S = 0.3

Fault = Callable[[Passing, Forward], Reply]


def _refusing(status: int, code: str, **headers: str) -> Fault:
    body = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda _, __: Reply(status, (("content-type", "application/xml"), *named), body)


def _lost(_: Passing, forward: Forward) -> Reply:
    forward()
    return BROKEN


def _slow(_: Passing, forward: Forward) -> Reply:
    time.sleep(SLOW_S)
    return forward()


FAULTS: Mapping[str, Fault] = {
    "403": _refusing(403, "AccessDenied"),
    "409": _refusing(409, "ConditionalRequestConflict"),
    "412": _refusing(412, "PreconditionFailed"),
    "500": _refusing(500, "InternalError"),
    "503": _refusing(503, "SlowDown", Retry_After="1"),
    "slow": _slow,
    "broken": lambda _, __: BROKEN,
    "lost": _lost,
}
LASTING = ("403", "412", "500", "503", "broken")
"""Faults that are tried from one request on, too."""

SAYS = {
    "403": "access denied",
    "409": "ConditionalRequestConflict",
    "412": "PreconditionFailed",
    "500": "InternalError",
    "503": "SlowDown",
    "broken": "onnection",  # boto3 has a capital, and our client has none
}
"""Words of which the sentence about a fault has some, unless it says that another publisher was faster."""


class Faulty:
    """A destination in S3, to which editions are published one after the other."""

    def __init__(self, work: Path, location: str, zygote: Zygote, between: Between, direct: dict[str, str]) -> None:
        self._work = work
        self._location = location
        self._zygote = zygote
        self._between = between
        self._direct = direct
        self._edition = 0
        assert self._publish() == 0
        self._held = bundles_at(location, direct, NAMES)

    def requests(self) -> list[Passing]:
        """The requests of a publish without faults."""
        assert self._publish() == 0
        self._held = bundles_at(self._location, self._direct, NAMES)
        return list(self._between.passed)

    def meet(self, fault: str, number: int, *, lasts: bool) -> bool:
        """Publish with a fault at one request, and judge all that is left. Return true if it was refused."""
        code = self._publish(_at(number, FAULTS[fault], lasts=lasts))
        output = self._zygote.output
        assert code in (0, 1), output
        assert "Traceback" not in output
        left = bundles_at(self._location, self._direct, NAMES)
        assert self._again() == 0, self._zygote.output
        after = bundles_at(self._location, self._direct, NAMES)
        for name in NAMES:
            assert left[name] in ((after[name],) if code == 0 else (self._held[name], after[name]))
        if code == 1:
            # An answer to HEAD has no code in a body, so the sentence has the status.
            assert any(
                word in output for word in (SAYS.get(fault, "onnection"), f"S3 answered {fault}", " was faster")
            ), output
            self._judge_said(output, [name for name in NAMES if left[name] == after[name]])
        self._held = after
        return code == 1

    def _judge_said(self, output: str, stored: Sequence[str]) -> None:
        """Require that the names in the report are those of the endpoints that are stored, and of the others."""
        said = {line.partition(":")[0]: line for line in output.splitlines()}
        if "Nothing was published." in output:
            assert not stored
            return
        for name in NAMES:
            unknown = name in said.get("Stored or not, without an answer", "")
            assert unknown or (name in said["Stored"]) == (name in stored), output
            assert unknown or (name in said.get("Not stored (unchanged)", "")) != (name in stored), output

    def _publish(self, rule: Rule | None = None) -> int:
        self._edition += 1
        write_edition(self._work / "endpoints", NAMES, f"edition {self._edition}")
        return self._again(rule)

    def _again(self, rule: Rule | None = None) -> int:
        self._between.begin(rule)
        environ = {**self._direct, "AWS_ENDPOINT_URL": self._between.url}
        return self._zygote.run("publish", str(self._work / "endpoints"), self._location, environ=environ)


def _at(number: int, fault: Fault, *, lasts: bool) -> Rule:
    def rule(passing: Passing, forward: Forward) -> Reply:
        is_met = passing.number >= number if lasts else passing.number == number
        # A 412 says that the index exists, and S3 says it of no other.
        if is_met and not (fault is FAULTS["412"] and "/.index/" in passing.path):
            return fault(passing, forward)
        return forward()

    return rule


def faults_at_each_request(faulty: Faulty, chosen: Sequence[str] | None = None) -> Iterator[tuple[str, bool]]:
    """Meet each fault at each request; yield the case, and true if the publish was refused."""
    count = len(faulty.requests())
    for fault in chosen or FAULTS:
        for number in range(1, count + 1):
            for lasts in (False, True) if fault in LASTING else (False,):
                yield f"{fault} at {number}{' and on' if lasts else ''}", faulty.meet(fault, number, lasts=lasts)
