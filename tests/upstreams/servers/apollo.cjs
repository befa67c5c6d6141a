const { ApolloServer, HeaderMap } = require('@apollo/server');
const { startStandaloneServer } = require('@apollo/server/standalone');
const { GraphQLError } = require('graphql');
const depthLimit = require('graphql-depth-limit');
const { MAX_DEPTH, REFUSALS, SDL, resolvers, variants } = require('./shop.cjs');

// Apollo's own way: an error of GraphQL that brings its status.
const CODES = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 429: 'TOO_MANY_REQUESTS', 503: 'UNAVAILABLE' };
const refuse = ({ status, message, headers }) => {
  const http = { status, headers: new HeaderMap(Object.entries(headers)) };
  throw new GraphQLError(message, { extensions: { code: CODES[status], http } });
};

for (const [variant, port] of variants()) {
  const refusal = REFUSALS[variant];
  const server = new ApolloServer({
    typeDefs: SDL(variant),
    resolvers: resolvers(variant),
    validationRules: variant === 'limited' ? [depthLimit(MAX_DEPTH)] : [],
    includeStacktraceInErrorResponses: false,
  });
  startStandaloneServer(server, {
    listen: { port, host: '127.0.0.1' },
    context: async ({ req }) => (refusal ? refuse(refusal) : { drop: () => req.socket.destroy() }),
  });
}
