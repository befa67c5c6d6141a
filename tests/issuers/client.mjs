// The TypeScript SDK's client, with its own OAuth flow: node client.mjs HOME SDK URL REDIRECT_URI CALLS.
//
// SDK is `sdk` (1.x) or `client` (2.x). CALLS is JSON: [[tool, arguments], ...]; a number among them is how many seconds
// to wait. Prints each URL that a person would open, as {"open": URL}, and reads from standard input where their browser
// was sent then; prints the outcome in the end: the results, and the scopes of the token at each of them.
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";

const [home, sdk, url, redirectUrl, callsText] = process.argv.slice(2);
const { resolve } = createRequire(`${home}/`);
const load = (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/${name}`).replace(/index\.cjs$/, "index.mjs")));
const { Client, StreamableHTTPClientTransport, UnauthorizedError } =
  sdk === "client"
    ? await load("client")
    : {
        ...(await load("sdk/client/index.js")),
        ...(await load("sdk/client/streamableHttp.js")),
        ...(await load("sdk/client/auth.js")),
      };

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const grant_types = ["authorization_code", "refresh_token"];
const redirect_uris = [redirectUrl];
const held = {};
const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: "tests", grant_types, redirect_uris, token_endpoint_auth_method: "none" },
  state: () => "a state & more",
  clientInformation: () => held.client,
  saveClientInformation: (client) => { held.client = client; },
  tokens: () => held.tokens,
  saveTokens: (tokens) => { held.tokens = tokens; },
  saveCodeVerifier: (verifier) => { held.verifier = verifier; },
  codeVerifier: () => held.verifier,
  saveDiscoveryState: (state) => { held.discovery = state; },
  discoveryState: () => held.discovery,
  redirectToAuthorization: (authorizationUrl) => console.log(JSON.stringify({ open: authorizationUrl.href })),
};

let transport;
const connect = async () => {
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client({ name: "tests", version: "1" });
  await client.connect(transport);
  return client;
};

/** Do something again after each sign-in that it takes. */
const signingIn = async (action) => {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      const { searchParams } = new URL((await lines.next()).value);
      if (searchParams.get("state") !== "a state & more") throw new Error(`state: ${searchParams}`);
      await transport.finishAuth(sdk === "client" ? searchParams : searchParams.get("code"));
    }
  }
};

const client = await signingIn(connect);
const results = [];
const scopes = [];
for (const call of JSON.parse(callsText)) {
  if (typeof call === "number") {
    await new Promise((done) => setTimeout(done, call * 1000));
    continue;
  }
  const [name, args] = call;
  results.push(await signingIn(() => client.callTool({ name, arguments: args })));
  scopes.push(held.tokens.scope);
}
console.log(JSON.stringify({ results, scopes, client: held.client.client_id }));
await client.close();
process.exit();
