"""The secrets of an endpoint on this machine: variables of the environment, else of ``.env`` beside config.yaml."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from handler.bundle.identity import SECRET_REFERENCE
from handler.bundle.model import Bundle
from handler.bundle.upstream import SecretReference, parse_reference
from handler.compiler.compile import Compiled
from handler.compiler.source.files import parse_env
from handler.errors.infrastructure import SettingsError
from handler.server.outgoing.secret_store import variable_of
from handler.settings import SECRET_PREFIX, Secret, Settings, read_secret, read_secrets


def trial_secrets(env_file: Path | None) -> dict[str, str]:
    """Return an endpoint's ``STILE_SECRET_`` variables for trials. The environment wins, as for ``STEPZEN_``."""
    try:
        text = env_file.read_text("utf-8") if env_file else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return read_secrets(parse_env(text)) | read_secrets(os.environ)


class TrialSecrets(Mapping[str, Secret]):
    """The secrets of an endpoint by name, read from its ``.env`` at each look, so that a saved value counts at once."""

    def __init__(self, settings: Settings, env_file: Callable[[], Path | None]) -> None:
        self._settings = settings
        self._env_file = env_file

    def __getitem__(self, name: str) -> Secret:
        if self._settings.secrets.get(name):
            return self._settings.secrets[name]
        try:
            return read_secret(f"{SECRET_PREFIX}{name}", trial_secrets(self._env_file())[name])
        except SettingsError as exc:  # the beginning of an ARN, which is never a secret itself
            raise KeyError(name) from exc

    def __iter__(self) -> Iterator[str]:
        return iter({**trial_secrets(self._env_file()), **self._settings.secrets})

    def __len__(self) -> int:
        return len(list(iter(self)))


def unset_secrets(compiled: Compiled, settings: Settings) -> list[str]:
    """Return a sentence for each secret that the endpoint names and that is not set on this machine."""
    there = TrialSecrets(settings, lambda: compiled.env_file)
    missing = [
        f"{key}: {SECRET_PREFIX}{name} is not set here: set it in the environment, or in {_shown(compiled.env_file)}"
        for key, name in _names_of_keys(compiled.bundle)
        if not there.get(name)
    ]
    return [*missing, *_unset_of_upstream(compiled, there, settings)]


def _unset_of_upstream(compiled: Compiled, there: TrialSecrets, settings: Settings) -> Iterator[str]:
    bundle = compiled.bundle
    for reference in filter(None, map(parse_reference, bundle.upstream.secrets)):
        name = variable_of(reference)
        in_aws = reference.source != "env" and settings.secrets_prefix
        if not there.get(name) and not in_aws:
            yield (
                f"upstream.auth: {SECRET_PREFIX}{name} is not set here: set it in the environment, or in "
                f"{_shown(compiled.env_file)}. The function reads {reference} from {_place_of(reference, bundle)}"
            )


def _place_of(reference: SecretReference, bundle: Bundle) -> str:
    match reference.source:
        case "secret":
            return f"Secrets Manager, {{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}"
        case "ssm":
            return f"Parameter Store, /{{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}"
        case _:
            return f"its own variable {SECRET_PREFIX}{reference.name}"


def _names_of_keys(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield the setting and the secret's name of each key for tokens that is a reference."""
    issuers = bundle.identity.issuers
    for issuer in issuers:
        of = f" of the issuer {issuer.issuer}" if len(issuers) > 1 and issuer.issuer else ""
        for place, key in enumerate(issuer.keys):
            if key.algorithm == "HS256" and key.key.startswith(SECRET_REFERENCE):
                yield f"identity.keys[{place}]{of}", key.key.removeprefix(SECRET_REFERENCE)


def _shown(file: Path) -> str:
    return file.relative_to(Path.cwd()).as_posix() if file.is_relative_to(Path.cwd()) else file.as_posix()
