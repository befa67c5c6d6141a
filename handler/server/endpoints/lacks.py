"""Parts that a bundle needs and that the function's build or settings lack."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from handler.bundle.identity import SECRET_REFERENCE
from handler.bundle.model import Bundle
from handler.code_tools.modules import is_among, is_there
from handler.cold.records import record

JWT_PACKAGES = ("jwt", "cryptography")
CODE_PACKAGES = ("pydantic",)

_REMEDY = "add it to Extras in samconfig.toml, then `sam build` and `sam deploy`"


@record(frozen=True, slots=True, kw_only=True)
class Lack:
    """A missing part. ``sentence`` is for the log; ``closes``: the endpoint cannot be used without the part."""

    sentence: str
    closes: bool


def find_lacks(bundle: Bundle, *, code_modules: Sequence[str], secrets: Collection[str]) -> tuple[Lack, ...]:
    """Find the parts that an endpoint needs and the function lacks. No module is imported, as its code would run.

    If tokens cannot be verified, a caller asked to sign in would do so for ever. So the endpoint closes for all
    callers. If a part for tools in Python is missing, only the calls of these tools fail. ``secrets`` are the names of
    the secrets that keys of issuers may refer to.
    """
    return (*_lacks_of_tokens(bundle, secrets), *_lacks_of_code(bundle, code_modules))


def _lacks_of_tokens(bundle: Bundle, secrets: Collection[str]) -> Iterator[Lack]:
    if bundle.identity.trusted_apis:
        return  # the authorizer verifies; a token on another way is refused as ``VerifierMissing``
    if bundle.identity.issuers and not all(map(is_there, JWT_PACKAGES)):
        yield Lack(sentence=f"the extra jwt is missing, which verifies tokens of issuers: {_REMEDY}", closes=True)
    keys = [key for issuer in bundle.identity.issuers for key in issuer.keys]
    for reference in dict.fromkeys(key.key for key in keys if key.algorithm == "HS256"):
        name = reference.removeprefix(SECRET_REFERENCE)
        if name != reference and name not in secrets:
            sentence = f"STILE_SECRET_{name} is missing, which verifies tokens of an issuer: set the variable"
            yield Lack(sentence=sentence, closes=True)


def _lacks_of_code(bundle: Bundle, code_modules: Sequence[str]) -> Iterator[Lack]:
    if bundle.code and not all(map(is_there, CODE_PACKAGES)):
        yield Lack(sentence=f"the extra code is missing, which tools in Python need: {_REMEDY}", closes=False)
    for module in dict.fromkeys(kit.use.partition(":")[0] for kit in bundle.code):
        if not is_among(module, code_modules):
            sentence = f"{module} is not among STILE_CODE_MODULES: name the module there"
            yield Lack(sentence=sentence, closes=False)
        elif not is_there(module):
            sentence = f"there is no module {module}: build the function with the code of the module"
            yield Lack(sentence=sentence, closes=False)
