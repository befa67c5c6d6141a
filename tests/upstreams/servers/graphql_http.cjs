const http = require('node:http');
const depthLimit = require('graphql-depth-limit');
const { buildSchema } = require('graphql');
const { createHandler } = require('graphql-http/lib/use/http');
const { MAX_DEPTH, SDL, refusing, rooted, variants } = require('./shop.cjs');

for (const [variant, port] of variants()) {
  const api = createHandler({
    schema: buildSchema(SDL(variant)),
    rootValue: rooted(variant),
    validationRules: variant === 'limited' ? [depthLimit(MAX_DEPTH)] : [],
    context: (request) => ({ drop: () => request.raw.socket.destroy() }),
  });
  http.createServer(refusing(variant, api)).listen(port, '127.0.0.1');
}
