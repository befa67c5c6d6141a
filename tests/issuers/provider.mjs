// An OpenID provider on loopback: node provider.mjs HOME PORT. HOME is where its package is installed.
//
// Clients get access tokens by their own credentials, for the resource and with the algorithm that they ask for:
// the resource https://api.example/RS256 gives a token that is signed with RS256. Prints a line when it listens.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { generateKeyPairSync } from "node:crypto";

const [home, port] = process.argv.slice(2);
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
const scope = "orders:read orders:write";

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys },
  scopes: scope.split(" "),
  clients: [{
    client_id: "agent",
    client_secret: "agent-secret",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  }],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "https://api.example/RS256",
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource,
        scope,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: resource.split("/").pop() } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
