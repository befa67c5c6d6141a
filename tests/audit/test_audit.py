"""GraphQL over HTTP's public audit, which other servers are measured with too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.auditing import LEVELS, audit, downloaded_schema, is_installed, passed
from tests.audit.routes import ROUTES, audited_endpoint
from tests.clients.serving import serving
from tests.support.require import requires
from tests.support.upstream import Upstream


@pytest.fixture
def installed() -> None:
    requires("node", is_installed(), "`make audit` installs GraphQL over HTTP's audit with npm")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("route", ROUTES)
def test_route_passes_the_audit_in_full(upstream: Upstream, tmp_path: Path, route: str) -> None:
    with serving(audited_endpoint(tmp_path, upstream.url)) as url:
        findings = audit(url + route)

    assert [str(found) for found in findings if found.status != "ok"] == []
    assert passed(findings) == LEVELS


@pytest.mark.usefixtures("installed")
def test_route_that_speaks_another_protocol_fails_it(upstream: Upstream, tmp_path: Path) -> None:
    with serving(audited_endpoint(tmp_path, upstream.url)) as url:
        counts = passed(audit(f"{url}/mcp"))

    assert counts["MUST"] < LEVELS["MUST"]
    assert counts["SHOULD"] < LEVELS["SHOULD"]


@pytest.mark.usefixtures("installed")
def test_graphiqls_introspection_query_gives_a_tools_schema_and_no_more(upstream: Upstream, tmp_path: Path) -> None:
    with serving(audited_endpoint(tmp_path, upstream.url)) as url:
        whole, of_tool = (downloaded_schema(url + route) for route in ("/graphql", "/tools/employee-lookup/graphql"))

    assert "__Search" not in whole
    assert "  salary: " in whole
    assert "type Customer " in whole
    assert "type Employee " in of_tool
    assert "salary" not in of_tool.replace("without their salary", "")
    assert "type Customer " not in of_tool
