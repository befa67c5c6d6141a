const http = require('node:http');
const depthLimit = require('graphql-depth-limit');
const { createSchema, createYoga } = require('graphql-yoga');
const { MAX_DEPTH, REFUSALS, SDL, resolvers, variants } = require('./shop.cjs');

const limits = { onValidate: ({ addValidationRule }) => addValidationRule(depthLimit(MAX_DEPTH)) };

// As a proxy in front of it does: a page, and no GraphQL.
const refuses = ({ status, message, headers }) => ({
  onRequest: ({ fetchAPI, endResponse }) =>
    endResponse(
      new fetchAPI.Response(`<html><body>${message}</body></html>`, {
        status,
        headers: { 'content-type': 'text/html', ...headers },
      }),
    ),
});

for (const [variant, port] of variants()) {
  const refusal = REFUSALS[variant];
  const yoga = createYoga({
    schema: createSchema({ typeDefs: SDL(variant), resolvers: resolvers(variant) }),
    plugins: refusal ? [refuses(refusal)] : variant === 'limited' ? [limits] : [],
    context: ({ req }) => ({ drop: () => req.socket.destroy() }),
    graphqlEndpoint: '/graphql',
    logging: false,
  });
  http.createServer(yoga).listen(port, '127.0.0.1');
}
