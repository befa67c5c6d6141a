"""Endpoints with toolkits in Python, as the compiler would freeze them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CodeKit, CodeTool, ToolOptions
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.loading import digest_of, load_kit
from handler.code_tools.toolkit import Toolkit
from handler.compiler.compile import Compiled
from handler.compiler.config.config import CatalogUse
from handler.compiler.config.table import UNLISTED
from handler.compiler.problems import Place
from handler.compiler.tools.added_tools import catalog_tools
from handler.policy.evaluation import OPEN, Mask

MODULES = ("tests.support.acme_tools", "tests.support.acme_plugins", "tests.support.acme_broken")

TOOLS = "tests.support.acme_tools:kit"
PLUGINS = "tests.support.acme_plugins:kit"

OPTIONS = ToolOptions(hidden=False, aliases=(), scopes=(), output="both", confirm="", meta={})


def with_kit(
    compiled: Compiled, use: str, *, mask: Mask = OPEN, hidden: bool | None = None, category: str = ""
) -> Compiled:
    """The endpoint with the tools, prompts and resources of a kit."""
    bundle, kit = compiled.bundle, load_kit(use, modules=[use.partition(":")[0]])
    code_kit = CodeKit(use=use, per_caller=kit.is_per_caller, hidden=hidden, category=category, mask=mask)
    prompts = [
        CodePrompt(
            name=each.name,
            entry=each.entry,
            kit=use,
            digest=digest_of(each),
            mask=mask,
            hidden=each.hidden,
            completions={},
        )
        for each in kit.prompts
    ]
    resources = [
        CodeResource(entry=each.entry, kit=use, digest=digest_of(each), mask=mask, hidden=each.hidden)
        for each in kit.resources
    ]
    changed = replace(
        bundle,
        tools=(*bundle.tools, *_tools(kit, use, mask)),
        code=(*bundle.code, code_kit),
        prompts=(*bundle.prompts, *prompts),
        resources=(*bundle.resources, *resources),
    )
    return replace(compiled, bundle=changed)


def with_catalog(compiled: Compiled, *, hidden: bool = True, **options: Any) -> Compiled:
    """The endpoint with a catalog."""
    defaults: dict[str, Any] = {"name": "catalog", "unlisted": UNLISTED["auto"]}
    use = CatalogUse(at=Place("config.yaml", 1, 1), hidden=hidden, **{**defaults, **options})
    tools = (each.tool for each in catalog_tools(use))
    return replace(compiled, bundle=replace(compiled.bundle, tools=(*compiled.bundle.tools, *tools)))


def changed_tool(compiled: Compiled, tool_name: str, /, **changes: object) -> Compiled:
    """The endpoint with one tool in Python that the bundle says something else of."""
    tools = tuple(
        replace(tool, **changes) if isinstance(tool, CodeTool) and tool.name == tool_name else tool  # type: ignore[arg-type]
        for tool in compiled.bundle.tools
    )
    return replace(compiled, bundle=replace(compiled.bundle, tools=tools))


def _tools(kit: Toolkit, use: str, mask: Mask) -> Iterator[CodeTool]:
    for each in kit.tools:
        yield CodeTool(
            name=each.name,
            entry=each.entry,
            kit=use,
            digest=digest_of(each),
            mask=mask,
            options=_options(each),
        )


def _options(definition: ToolDefinition) -> ToolOptions:
    options = definition.options
    return replace(OPTIONS, hidden=options.hidden, aliases=options.aliases, scopes=options.scopes)
