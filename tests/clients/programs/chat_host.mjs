// A host of MCP Apps in a browser, with the official bridge. It calls a tool, shows its view, and tells what it shows.

import { AppBridge, getToolUiResourceUri, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

// The policy that hosts have to use for a page that declares nothing. Source: MCP Apps, "Host Behavior".
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const INFO = { name: "tests", version: "1" };

async function until(true_, what) {
  for (let left = 400; left; left--) {
    if (true_()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`never: ${what}`);
}

async function main(given) {
  const client = new Client(INFO);
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  const { tools } = await client.listTools();
  const tool = tools.find((each) => each.name === given.tool);
  const { contents } = await client.readResource({ uri: getToolUiResourceUri(tool) });
  const violations = [], sizes = [];

  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin";
  document.body.append(frame);
  const context = { theme: "dark", styles: { variables: given.variables } };
  const bridge = new AppBridge(client, INFO, { serverTools: {} }, { hostContext: context });
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  bridge.onsizechange = (size) => { sizes.push(size); };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  const page = contents[0].text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}"><script>
    addEventListener("securitypolicyviolation", (event) => parent.violations.push(event.blockedURI + " " + event.violatedDirective));
    addEventListener("error", (event) => parent.violations.push(String(event.message)));
    window.canary = (what) => parent.violations.push("a script of a text ran: " + what);
  </script>`);
  window.violations = violations;
  frame.srcdoc = page;
  await ready;

  const inside = () => frame.contentDocument;
  const texts = (selector) => [...inside().querySelectorAll(selector)].map((each) => each.textContent);
  const look = () => ({
    head: texts("thead th"),
    rows: [...inside().querySelectorAll("tbody tr")].map((row) => [...row.children].map((each) => each.textContent)),
    state: texts("#state")[0],
    fault: texts("#fault")[0],
    lists: texts("#list option"),
    buttons: ["previous", "next"].map((id) => inside().getElementById(id)).map((each) => !each.hidden && !each.disabled),
    elements: inside().querySelectorAll("img, a, iframe, svg, body script").length,
  });
  const looks = [], focused = [];
  await bridge.sendToolInput({ arguments: given.arguments });
  await bridge.sendToolResult(given.result ?? await client.callTool({ name: tool.name, arguments: given.arguments }));
  await until(() => inside().getElementById("state").textContent !== "Waiting for the result", "result shown");
  looks.push(look());
  for (const press of given.press) {
    const before = JSON.stringify(look());
    const list = inside().getElementById("list");
    if ([...list.options].some((each) => each.value === press)) {
      list.value = press;
      list.dispatchEvent(new Event("change"));
    } else {
      inside().getElementById(press).focus();
      inside().getElementById(press).click();
    }
    await until(() => JSON.stringify(look()) !== before, press);
    await new Promise((resolve) => setTimeout(resolve, 300));
    looks.push(look());
    focused.push(inside().activeElement.id);
  }
  await until(() => sizes.length, "size told");
  return {
    looks,
    focused,
    violations,
    sizes: sizes.length,
    theme: inside().documentElement.dataset.theme,
    colour: frame.contentWindow.getComputedStyle(inside().body).color,
    background: inside().documentElement.style.getPropertyValue("--color-background-primary"),
    requests: frame.contentWindow.performance.getEntriesByType("resource").map((each) => each.name),
  };
}

fetch("/given").then((each) => each.json()).then(main).catch((error) => ({ failed: `${error} ${error?.stack}` }))
  .then((told) => fetch("/told", { method: "POST", body: JSON.stringify(told) }));
