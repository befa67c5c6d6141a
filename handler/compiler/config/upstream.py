"""Read ``upstream`` of ``config.yaml``: the API's URL, and the form of requests to it."""

from __future__ import annotations

from handler.bundle.model import MAX_ANSWER_S
from handler.bundle.upstream import HeaderAuth, Upstream
from handler.compiler.config.tenant_place import read_tenant, sample_of
from handler.compiler.config.upstream_auth import read_auth
from handler.compiler.config.upstream_headers import read_headers
from handler.compiler.config.urls import is_http_url
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section
from handler.http.url_keys import keys_in


def read_upstream(section: Section, problems: Problems) -> Upstream:
    """Read the API behind the endpoint. ``judge_passthrough`` checks ``passthrough``, which needs ``identity``."""
    section.expect()
    url = _url(section, problems)
    tenant = read_tenant(section, problems, url=url)
    auth = read_auth(section, problems, url=sample_of(url))
    headers = read_headers(section, problems, credential=auth.header if isinstance(auth, HeaderAuth) else "")
    timeout_s = section.number("timeout_s")
    if timeout_s > MAX_ANSWER_S:
        problems.warn(
            section.place("timeout_s"),
            f'"upstream.timeout_s": callers get an answer within {MAX_ANSWER_S:g} s, so a longer timeout has no effect',
            code="ineffective-timeout",
        )
    return Upstream(
        url=url,
        timeout_s=timeout_s,
        max_bytes=section.integer("max_bytes"),
        headers=headers.fixed,
        claim_headers=headers.claims,
        forward_headers=headers.forwarded,
        documents=section.choice("documents"),
        auth=auth,
        tenant=tenant,
    )


def _url(section: Section, problems: Problems) -> str:
    url = section.text("url")
    if "@" in url:  # not shown: it may hold a password
        problems.add(
            section.place("url"), '"upstream.url": expected a URL without credentials in it', code="credentials-in-url"
        )
    elif url and not is_http_url(sample_of(url)):
        section.refuse("url", "the http(s) URL of a GraphQL API, such as https://api.example.com/graphql")
    for name in keys_in(url) if is_http_url(sample_of(url)) else ():
        problems.warn(
            section.place("url"),
            f'"upstream.url": the bundle stores the value of "{name}": expected a key in upstream.auth, if the API '
            "takes it in a header",
            code="key-in-url",
        )
    return url
