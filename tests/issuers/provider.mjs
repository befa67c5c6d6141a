// An OpenID provider on loopback: node provider.mjs HOME PORT SECONDS [CALLBACK | registration]. HOME is where its
// package is installed, SECONDS how long tokens are valid.
//
// Clients get access tokens by their own credentials, for the resource and with the algorithm that they ask for:
// the resource https://api.example/RS256 gives a token that is signed with RS256. People sign in by any name, for the
// client "stile", whose one redirect URI is CALLBACK, or for clients that register. Prints a line when it
// listens.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { generateKeyPairSync } from "node:crypto";

const [home, port, seconds, callback] = process.argv.slice(2);
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
const registration = callback === "registration";

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
  redirect_uris: [callback],
  response_types: ["code"],
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys },
  scopes: ["openid", "offline_access", ...scope.split(" ")],
  clients: callback && !registration ? [agent, stile] : [agent],
  // As Entra does it: scopes are asked for with their API's name, and tokens have them without.
  formats: { customizers: { jwt: (_ctx, _token, { payload }) => {
    payload.scope = payload.scope?.replaceAll("api://shop/", "");
  } } },
  features: {
    devInteractions: { enabled: Boolean(callback) },
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
        accessTokenTTL: Number(seconds),
        jwt: { sign: { alg: resource.endsWith("/ES256") ? "ES256" : "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
