// The skills of the official SDK for TypeScript, 2.x, which verifies each file: `skills.mjs URL MODE MODULES`.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, mode, modules] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { SkillsClient } = await load("@modelcontextprotocol/client/ext/skills");

const negotiation = mode === "modern" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "tests", version: "1" }, negotiation);
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const skills = new SkillsClient(client);
const { skills: listed } = await skills.list();
const read = {};
for (const { uri } of listed) {
  const { skill } = await skills.get(uri);
  for (const file of skill.resources) {
    const { verified, frontmatter, bytes } = await skills.read(skill, file.uri);
    read[file.uri] = { verified, size: bytes.length, ...(frontmatter && { frontmatter }) };
  }
}
console.log(JSON.stringify({ revision: client.getNegotiatedProtocolVersion(), read }));
await client.close();
