const Fastify = require('fastify');
const mercurius = require('mercurius');
const { MAX_DEPTH, REFUSALS, SDL, resolvers, variants } = require('./shop.cjs');

for (const [variant, port] of variants()) {
  const refusal = REFUSALS[variant];
  const app = Fastify();
  if (refusal) {
    app.addHook('onRequest', async (_, reply) => {
      reply.headers(refusal.headers);
      throw Object.assign(new Error(refusal.message), { statusCode: refusal.status }); // as Fastify answers it
    });
  }
  app.register(mercurius, {
    schema: SDL(variant),
    resolvers: resolvers(variant),
    queryDepth: variant === 'limited' ? MAX_DEPTH : undefined,
    context: (request) => ({ drop: () => request.raw.socket.destroy() }),
  });
  app.listen({ port, host: '127.0.0.1' });
}
