// Runs the public audit against a URL, and writes one JSON list of what each of its checks found.
import { createRequire } from 'node:module';

const [home, url] = process.argv.slice(2);
const { auditServer } = createRequire(`${home}/`)('graphql-http');
const results = await auditServer({ url });
const found = results.map(({ id, name, status, reason }) => ({ id, name, status, reason: reason ?? '' }));
process.stdout.write(JSON.stringify(found));
