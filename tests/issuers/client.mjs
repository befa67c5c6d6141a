// The TypeScript SDK's client, with its own OAuth flow: node client.mjs HOME URL REDIRECT_URI TOOL ARGUMENTS.
//
// Prints the URL that a person would open, reads from standard input where their browser was sent in the end, and prints
// the result of the call as JSON.
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";

const [home, url, redirectUrl, name, argumentsText] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import(
  pathToFileURL(createRequire(`${home}/`).resolve("@modelcontextprotocol/client").replace(/index\.cjs$/, "index.mjs"))
);

const held = {};
const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: "tests", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
  state: () => "a state & more",
  clientInformation: () => held.client,
  saveClientInformation: (client) => { held.client = client; },
  tokens: () => held.tokens,
  saveTokens: (tokens) => { held.tokens = tokens; },
  saveCodeVerifier: (verifier) => { held.verifier = verifier; },
  codeVerifier: () => held.verifier,
  saveDiscoveryState: (state) => { held.discovery = state; },
  discoveryState: () => held.discovery,
  redirectToAuthorization: (authorizationUrl) => console.log(authorizationUrl.href),
};

const connect = async (transport) => {
  const client = new Client({ name: "tests", version: "1" });
  await client.connect(transport);
  return client;
};

const first = new StreamableHTTPClientTransport(new URL(url), { authProvider });
try {
  await connect(first);
  throw new Error("nobody was asked to sign in");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const lines = createInterface({ input: process.stdin });
const answered = new URL((await lines[Symbol.asyncIterator]().next()).value);
lines.close();
if (answered.searchParams.get("state") !== "a state & more") throw new Error(`state: ${answered}`);
await first.finishAuth(answered.searchParams);
const client = await connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
const result = await client.callTool({ name, arguments: JSON.parse(argumentsText) });
console.log(JSON.stringify({ result, granted: held.tokens.scope, client: held.client.client_id }));
await client.close();
