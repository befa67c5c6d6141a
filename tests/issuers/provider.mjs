// An OpenID provider on loopback: node provider.mjs HOME PORT OPTIONS. HOME is where its package is installed. OPTIONS is
// JSON: `seconds` is how long access tokens are valid, `people` how people sign in, `refresh` whether every client that
// may refresh gets a refresh token, not only one that asks for offline_access and shows its person what that means.
//
// Clients get access tokens by their own credentials, for the resource and with the algorithm that they ask for:
// the resource https://api.example/RS256 gives a token that is signed with RS256. People sign in by any name, for the
// client "stile", whose one redirect URI is `people`, or for clients that register, if that is "registration". Prints a
// line when it listens.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { generateKeyPairSync } from "node:crypto";

const [home, port, options] = process.argv.slice(2);
const { seconds, people, refresh } = JSON.parse(options);
const { default: Provider } = await import(pathToFileURL(createRequire(`${home}/`).resolve("oidc-provider")));

const jwk = (type, options, alg) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }),
  alg,
  use: "sig",
  kid: alg.toLowerCase(),
});

const keys = [
  jwk("rsa", { modulusLength: 2048 }, "RS256"),
  jwk("ec", { namedCurve: "P-256" }, "ES256"),
];
const scope = "orders:read orders:write api://shop/orders:read";
const registration = people === "registration";

const agent = {
  client_id: "agent",
  client_secret: "agent-secret",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};
const stile = {
  client_id: "stile",
  client_secret: "stile-secret",
  token_endpoint_auth_method: "client_secret_post",
  grant_types: ["authorization_code", "refresh_token"],
  redirect_uris: [people],
  response_types: ["code"],
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys },
  scopes: ["openid", "offline_access", ...scope.split(" ")],
  clients: people && !registration ? [agent, stile] : [agent],
  issueRefreshToken: (_ctx, client, code) =>
    client.grantTypeAllowed("refresh_token") && (refresh || code.scopes.has("offline_access")),
  // As Entra does it: scopes are asked for with their API's name, and tokens have them without.
  formats: { customizers: { jwt: (_ctx, _token, { payload }) => {
    payload.scope = payload.scope?.replaceAll("api://shop/", "");
  } } },
  features: {
    devInteractions: { enabled: Boolean(people) },
    registration: { enabled: registration },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "https://api.example/RS256",
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource,
        scope,
        accessTokenFormat: "jwt",
        accessTokenTTL: seconds,
        jwt: { sign: { alg: resource.endsWith("/ES256") ? "ES256" : "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
