"""Errors of the ground of the function: bundles, settings, storage, AWS, HTTP and authors' modules."""

from __future__ import annotations

from collections.abc import Sequence

from handler.errors import StileError


class BundleError(StileError):
    """Bytes that are not a bundle this release can serve."""

    def __init__(self, reason: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path

    def inside(self, part: str) -> BundleError:
        """Return this error with ``part``, such as ``tools[3]``, in front of its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return BundleError(self.reason, path=f"{part}{joint}{self.path}")


class SettingsError(StileError):
    """An environment variable that is missing or not valid."""

    def __init__(self, name: str, value: str, *, expected: str) -> None:
        super().__init__(f"{name}={value!r}: expected {expected}")
        self.name = name
        self.value = value
        self.expected = expected


class StorageError(StileError):
    """The folder or bucket that holds the bundles did not answer as it should."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}")
        self.location = location
        self.reason = reason


class ObjectNotFound(StorageError):
    """The storage answered that there is no such object."""

    def __init__(self, location: str) -> None:
        super().__init__(location, "no such object")


class StorageDenied(StorageError):
    """The credentials may not do this with the storage."""


class ObjectChanged(StorageError):
    """Another object is stored than the one that a conditional write is for. Nothing was written."""

    def __init__(self, location: str) -> None:
        super().__init__(location, "another object is stored since, or none")


class WriteUnconfirmed(StorageError):
    """The storage did not confirm a write, which it may have carried out."""


class AwsError(StileError):
    """A refusal by AWS, with AWS's code; or no credentials to sign with, and the message names the setting."""


class AwsDenied(AwsError):
    """AWS knows the credentials, and they do not allow the call."""


class AwsUnanswered(AwsError):
    """An AWS service that did not answer, or says to try later."""


class SecretUnavailable(StileError):
    """A secret of the function's settings that cannot be read. ``reason`` is for the log."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable}: {reason}")
        self.variable = variable
        self.reason = reason


class HttpError(StileError):
    """An HTTP exchange without a response to read. Of the address, only ``host`` is shown.

    ``sent``: the server may have received the request, in whole or in part.
    """

    def __init__(self, host: str, reason: str, *, sent: bool = False) -> None:
        super().__init__(f"{host}: {reason}")
        self.host = host
        self.reason = reason
        self.sent = sent


class HttpTimeout(HttpError):
    """The deadline passed before the response was complete."""

    def __init__(self, host: str, *, timeout_s: float, sent: bool = False) -> None:
        super().__init__(host, f"no complete answer within {timeout_s:g} s", sent=sent)
        self.timeout_s = timeout_s


class HttpUnreachable(HttpError):
    """The connection failed, or broke before the response was complete."""


class AddressRefused(HttpUnreachable):
    """The address rules forbid the request. ``reason`` says why, without an address."""


class HttpEncoding(HttpUnreachable):
    """A response in an encoding that was not requested. ``encoding`` is its name, as the server writes it."""

    def __init__(self, host: str, *, encoding: str) -> None:
        super().__init__(host, "the body has an encoding that was not asked for", sent=True)
        self.encoding = encoding


class HttpHeadTooLarge(HttpUnreachable):
    """A response with too many lines of headers, or with a line that is too long."""


class HttpTooLarge(HttpError):
    """The decoded response is larger than the caller allowed."""

    def __init__(self, host: str, *, max_bytes: int) -> None:
        super().__init__(host, f"the answer is larger than {max_bytes} bytes", sent=True)
        self.max_bytes = max_bytes


class FunctionLacks(StileError):
    """The function was built or configured without a thing that an endpoint needs. ``lacks``: sentences for the log."""

    def __init__(self, endpoint: str, lacks: Sequence[str]) -> None:
        super().__init__("; ".join(lacks))
        self.endpoint = endpoint
        self.lacks = tuple(lacks)


class UnservedSource(StileError):
    """Records that would be lost if the function returned: Lambda has to see that they failed."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"{source}: this function serves HTTP requests. Remove the event source mapping that sends it records"
        )
        self.source = source


class CodeUnavailable(StileError):
    """A toolkit that is missing or may not be imported. ``use`` has the form ``module:attribute``."""

    def __init__(self, use: str, reason: str) -> None:
        super().__init__(f"{use}: {reason}")
        self.use = use
        self.reason = reason
