"""The secrets of an endpoint on this machine: variables of the environment, else of ``.env`` beside config.yaml."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from handler.bundle.identity import SECRET_REFERENCE
from handler.bundle.upstream import parse_reference
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
    there, bundle, file = TrialSecrets(settings, lambda: compiled.env_file), compiled.bundle, compiled.env_file
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    unset = f"is not set here: set it in the environment, or in {shown.as_posix()}"
    sentences = []
    issuers = bundle.identity.issuers
    for issuer in issuers:
        of = f" of the issuer {issuer.issuer}" if len(issuers) > 1 and issuer.issuer else ""
        for place, key in enumerate(issuer.keys):
            name = key.key.removeprefix(SECRET_REFERENCE)
            if key.algorithm == "HS256" and name != key.key and not there.get(name):
                sentences.append(f"identity.keys[{place}]{of}: {SECRET_PREFIX}{name} {unset}")
    for reference in filter(None, map(parse_reference, bundle.upstream.secrets)):
        name = variable_of(reference)
        if there.get(name) or (reference.source != "env" and settings.secrets_prefix):
            continue
        source = {
            "env": f"its own variable {SECRET_PREFIX}{reference.name}",
            "secret": f"Secrets Manager, {{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}",
            "ssm": f"Parameter Store, /{{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}",
        }[reference.source]
        sentences.append(f"upstream.auth: {SECRET_PREFIX}{name} {unset}. The function reads {reference} from {source}")
    return sentences
