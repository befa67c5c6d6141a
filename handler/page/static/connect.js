// Lines to paste: for the usual clients, and for one call. A secret is never part of a line: TOKEN and KEY stand for it.
(() => {
  "use strict";
  const { el, state, json, mcp } = stile;

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

  /** The kind of the current persona's credential, and its header without the secret. */
  function credential() {
    const { kind } = state.persona?.secret ?? state.persona ?? {};
    return kind === "claims" ? "token" : kind === "key" || kind === "token" ? kind : "";
  }

  const header = () => ({ key: "X-API-Key: KEY", token: "Authorization: Bearer TOKEN" })[credential()] ?? "";

  // Clients: the lines of handler/page/clients.py ----------------------------------------------------------------------------
  function lines(name, url) {
    const kinds = JSON.parse(document.documentElement.dataset.clients);
    const words = { "@url@": url, "@name@": name, "@NAME@": name.toUpperCase().replaceAll("-", "_") };
    return kinds[credential() || "none"].map(([client, file, text]) => [client, text.replace(/@\w+@/g, (word) => words[word]), file]);
  }

  /** The URL and the lines for each client, as the chosen persona; those of the first client are open. */
  const clients = () => [
    el("p", { class: "row" }, el("code", { "data-part": "mcp-url" }, mcp.url()), stile.copyButton(mcp.url(), "Copy", { "aria-label": "Copy the MCP URL" })),
    credential() ? el("p", { class: "quiet" }, "The lines name a variable that has the credential.") : null,
    [...lines(state.endpoint.replace("/", "-"), mcp.url()), ["Python", python("tools/list")]].map(client),
  ];

  const client = ([name, text, file], at) =>
    el("div", { class: "client", "data-part": "client", "data-name": name },
      el("details", { open: at === 0 }, el("summary", null, name, file ? [" · ", el("code", null, file)] : null),
        el("pre", { class: "code", tabindex: "0", "aria-label": name }, text)),
      stile.copyButton(text, "Copy", { "aria-label": `Copy the lines for ${name}` }));

  const dialog = () => stile.dialog({ title: `Connect as ${stile.personas.label(state.persona)}`, part: "connect-dialog", wide: true, body: clients() });

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

  stile.connect = Object.freeze({ clients, dialog, copies, lines, curl, command, python });
})();
