// Lines to paste: for the usual clients, and for one call. A secret is never part of a line: TOKEN and KEY stand for it.
(() => {
  "use strict";
  const { el, state, replace, json, mcp } = stile;

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
  const asJson = (value) => JSON.stringify(value).replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (all, string, sign) => string ?? `${sign} `);

  /** The header of the current persona, without its secret. */
  function header() {
    const { kind } = state.persona?.secret ?? state.persona ?? {};
    if (kind === "key") return "X-API-Key: KEY";
    return kind === "token" || kind === "claims" ? "Authorization: Bearer TOKEN" : "";
  }

  // Clients: as handler/commands/local/listening.py has them ---------------------------------------------------------------
  function lines(name, url) {
    const told = header();
    const [key, value] = told.split(": ");
    const headers = told ? { headers: { [key]: value } } : {};
    const option = told ? ` --header ${quoted(told)}` : "";
    const args = ["-y", "mcp-remote", url, ...(told ? ["--header", told] : [])];
    return [
      { client: "Claude Code", line: `claude mcp add --transport http ${name} ${url}${option}` },
      { client: "Claude Desktop", line: `claude_desktop_config.json ${asJson({ mcpServers: { [name]: { command: "npx", args } } })}` },
      { client: "VS Code", line: `.vscode/mcp.json ${asJson({ servers: { [name]: { type: "http", url, ...headers } } })}` },
      { client: "Cursor", line: `.cursor/mcp.json ${asJson({ mcpServers: { [name]: { url, ...headers } } })}` },
      { client: "Inspector", line: `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list${option}` },
    ];
  }

  stile.panel({
    id: "connect", title: "Connect", place: "bottom", order: 40,
    render(container) {
      if (!state.endpoint) return replace(container, el("p", { class: "quiet pad" }, "Open an endpoint first."));
      const entry = state.endpoints.find((each) => each.name === state.endpoint);
      const clients = entry?.clients?.length ? entry.clients : lines(state.endpoint.replace("/", "-"), mcp.url());
      replace(container, el("div", { class: "clients" },
        header() ? el("p", { class: "quiet" }, `Lines with a credential have ${header().split(" ").at(-1)} in its place.`) : null,
        clients.map(({ client, line }) => block(client, line)),
        block("Python", python("tools/list"))));
    },
  });

  /** A line that begins with the name of a file is that file's content. */
  function block(client, line) {
    const file = /^([\w./-]+\.json) (\{.*\})$/s.exec(line);
    const text = file ? pretty(file[2]) : line;
    return el("div", { class: "section", "data-part": "client", "data-name": client },
      el("h2", null, client, file ? [" · ", el("code", null, file[1])] : null, " ", stile.copyButton(text, "Copy", { "aria-label": `Copy the lines for ${client}` })),
      el("pre", { class: "code", tabindex: "0", "aria-label": client }, text));
  }

  function pretty(text) {
    try {
      return json.stringify(json.parse(text), "  ");
    } catch {
      return text;
    }
  }

  // One call ---------------------------------------------------------------------------------------------------------------------
  /** Return the buttons that copy the call which the form describes. */
  function copies(tool, form) {
    const made = { curl: () => curl(tool, form.draft()), "stile call": () => command(tool, form.draft()), Python: () => python("tools/call", tool, form.draft()) };
    return el("span", { class: "row", role: "group", "aria-label": "Copy this call as", "data-part": "copy-as" }, el("span", { class: "quiet" }, "Copy as"),
      Object.entries(made).map(([label, text]) => stile.copyButton(text, label, { "data-name": label })));
  }

  function curl(tool, args) {
    const prefix = "io.modelcontextprotocol/";
    const meta = { [`${prefix}protocolVersion`]: mcp.REVISION, [`${prefix}clientInfo`]: { name: "curl", version: "1" }, [`${prefix}clientCapabilities`]: {} };
    const body = json.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool.name, arguments: args, _meta: meta } });
    const headers = [
      "Content-Type: application/json", "Accept: application/json, text/event-stream", `MCP-Protocol-Version: ${mcp.REVISION}`,
      "Mcp-Method: tools/call", `Mcp-Name: ${mcp.encoded(tool.name)}`, header(),
      ...Object.entries(mcp.mirrored(tool.entry?.inputSchema, args)).map(([name, value]) => `${name}: ${value}`),
    ];
    return [`curl ${quoted(mcp.url())}`, ...headers.filter(Boolean).map((each) => `-H ${quoted(each)}`), `--data-raw ${quoted(body)}`].join(" \\\n  ");
  }

  /** FOLDER stands for the endpoint's folder, which only dev knows. */
  function command(tool, args) {
    const persona = state.persona?.secret ? null : state.persona;
    const folder = state.endpoints.find((each) => each.name === state.endpoint)?.folder ?? "FOLDER";
    const as = persona?.kind === "claims" ? ` --as ${quoted(persona.file ?? persona.id)}` : persona && persona.kind !== "author" ? ` --as ${quoted(persona.label)}` : "";
    const token = state.persona?.secret?.kind === "token" ? " --token TOKENFILE" : "";
    return `stile call ${quoted(folder)} ${quoted(tool.name)}${as}${token} --arguments - <<'END'\n${json.stringify(args, "  ")}\nEND`;
  }

  /** Source: the official SDK for Python, version 2. */
  function python(method, tool, args) {
    const [name, value] = header().split(": ");
    const isCall = method === "tools/call";
    const transport = `streamable_http_client(${JSON.stringify(mcp.url())}${value ? ", http_client=http" : ""})`;
    return [
      "import asyncio", ...(isCall ? ["import json"] : []), "",
      ...(value ? ["import httpx2"] : []), "from mcp import Client", "from mcp.client.streamable_http import streamable_http_client", "", "",
      "async def main():",
      "    async with (",
      ...(value ? [`        httpx2.AsyncClient(headers={${JSON.stringify(name)}: ${JSON.stringify(value)}}) as http,`] : []),
      `        Client(${transport}) as client,`,
      "    ):",
      ...(isCall
        ? [`        arguments = json.loads(${pythonText(json.stringify(args))})`, `        print(await client.call_tool(${pythonText(tool.name)}, arguments))`]
        : ["        print(await client.list_tools())"]),
      "", "", "asyncio.run(main())", "",
    ].join("\n");
  }

  /** A JSON text is a Python text too, except for half surrogate pairs, which neither can send. */
  const pythonText = (text) => JSON.stringify(text);

  stile.connect = Object.freeze({ copies, lines, curl, command, python });
})();
