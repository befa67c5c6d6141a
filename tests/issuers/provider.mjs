// An OpenID provider on loopback: node provider.mjs HOME PORT OPTIONS. HOME is where its package is installed. OPTIONS is
// JSON: `seconds` is how long access tokens are valid, `people` how people sign in, `refresh` whether every client that
// may refresh gets a refresh token, not only one that asks for offline_access and shows its person what that means.
//
// Clients get access tokens by their own credentials, for the resource and with the algorithm that they ask for:
// the resource https://api.example/RS256 gives a token that is signed with RS256. People sign in by any name, for the
// client "stile", whose one redirect URI is `people`, or for clients that register, if that is "registration". Prints a
// line when it listens.
//
// People also sign in to the client "desk", which then exchanges their ID tokens for identity assertions (ID-JAG): the
// package has no such grant, so it is added here, as a company's provider would have it.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";

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
const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const desk = {
  client_id: "desk",
  client_secret: "desk-secret-at-the-provider",
  token_endpoint_auth_method: "client_secret_post",
  grant_types: ["authorization_code", tokenExchange],
  redirect_uris: ["https://desk.example/callback"],
  response_types: ["code"],
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys },
  scopes: ["openid", "offline_access", ...scope.split(" ")],
  clients: people && !registration ? [agent, stile, desk] : [agent],
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

const encoded = (part) => Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

function idJag(claims) {
  const text = `${encoded({ typ: "oauth-id-jag+jwt", alg: "ES256", kid: "es256" })}.${encoded(claims)}`;
  const key = createPrivateKey({ key: keys[1], format: "jwk" });
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

// Source: draft-ietf-oauth-identity-assertion-authz-grant, "Token Exchange".
async function exchange(ctx) {
  const { params, client } = ctx.oidc;
  const { payload } = await provider.IdToken.validate(params.subject_token, client);
  const now = Math.floor(Date.now() / 1000);
  ctx.body = {
    issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
    token_type: "N_A",
    expires_in: 300,
    access_token: idJag({
      iss: provider.issuer,
      sub: payload.sub,
      aud: params.audience,
      resource: params.resource,
      client_id: client.clientId,
      jti: randomUUID(),
      iat: now,
      exp: now + 300,
      ...(params.scope ? { scope: params.scope } : {}),
    }),
  };
}
const exchanged = ["audience", "resource", "scope", "requested_token_type", "subject_token", "subject_token_type"];
if (people && !registration) provider.registerGrantType(tokenExchange, exchange, exchanged, ["audience", "resource"]);

provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
