"""The bundle bucket in moto, with the policy that template.yaml gives the function's role."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handler.compiler.compile import Compiled
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.storage import Storage, StoredObject
from tests.infra.stack import Stack, statements
from tests.support.function import store
from tests.support.moto import Moto

NAME = "stile-bundles"
PREFIX = "endpoints"


@dataclass(frozen=True)
class BundleBucket:
    """Where the bundles are, and the environments of who may write and who may read."""

    location: str
    writer: Mapping[str, str]
    role: Mapping[str, str]


class ReadOnly:
    """A storage whose bundles were written by somebody else: writing again is left out."""

    def __init__(self, inner: Storage) -> None:
        self.location = inner.location
        self.read: Callable[..., StoredObject | None] = inner.read
        self.warm: Callable[[], None] = inner.warm
        self.list_keys: Callable[..., Iterator[str]] = inner.list_keys

    def write(self, key: str, body: bytes) -> None:
        """The writer did."""

    def add(self, key: str, body: bytes) -> bool:
        """The writer did."""
        return False


def published_bucket(moto: Moto, compiled: Compiled) -> BundleBucket:
    moto.add_bucket(NAME)
    publisher = {"Action": ["s3:PutObject", "s3:GetObject"], "Resource": f"arn:aws:s3:::{NAME}/{PREFIX}/*"}
    writer = moto.add_user("publisher", publisher)
    role = moto.add_user("function", *role_statements())
    location = f"s3://{NAME}/{PREFIX}"
    http = HttpClient()
    store(open_publish_storage(location, http=http, environ=writer), compiled)
    http.close()
    return BundleBucket(location, writer, role)


def role_statements(name: str = NAME) -> Sequence[Mapping[str, object]]:
    """The statements on bundles of the role that the template makes."""
    stack = Stack(
        "template.yaml", {"BundlePrefix": PREFIX}, attributes={"Storage.Outputs.BucketArn": f"arn:aws:s3:::{name}"}
    )
    return [each for each in statements(stack, "StileRole") if "s3:" in str(each["Action"])]
