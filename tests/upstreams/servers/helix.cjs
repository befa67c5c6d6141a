const http = require('node:http');
const depthLimit = require('graphql-depth-limit');
const { buildSchema, specifiedRules, validate } = require('graphql');
const { getGraphQLParameters, processRequest, sendResult } = require('graphql-helix');
const { MAX_DEPTH, SDL, refusing, rooted, variants } = require('./shop.cjs');

const read = async (request) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString() || '{}');
};

for (const [variant, port] of variants()) {
  const schema = buildSchema(SDL(variant));
  const rules = variant === 'limited' ? [...specifiedRules, depthLimit(MAX_DEPTH)] : specifiedRules;
  const api = async (request, response) => {
    const asked = { body: await read(request), headers: request.headers, method: request.method, query: {} };
    const result = await processRequest({
      ...getGraphQLParameters(asked),
      request: asked,
      schema,
      rootValueFactory: () => rooted(variant),
      contextFactory: () => ({ drop: () => request.socket.destroy() }),
      validate: (checked, document) => validate(checked, document, rules),
    });
    await sendResult(result, response);
  };
  http.createServer(refusing(variant, api)).listen(port, '127.0.0.1');
}
