// PostGraphile in front of the shop's database: node server.cjs SOCKET_FOLDER PORT, with the key in POSTGRAPHILE_KEY.
//
// Who asks is told by Stile in x-customer-id, a verified claim. That header is believed because of the key: whoever
// has not got it gets no answer at all.
const { createHash, timingSafeEqual } = require('node:crypto');
const http = require('node:http');
const { Pool } = require('pg');
const { postgraphile } = require('postgraphile');

const [folder, port] = process.argv.slice(2);
const digest = (text) => createHash('sha256').update(text ?? '').digest();
const key = process.env.POSTGRAPHILE_KEY;
if (!key) throw new Error('POSTGRAPHILE_KEY is not set');

const api = postgraphile(new Pool({ host: folder, user: 'shop_api', database: 'postgres' }), 'shop', {
  pgSettings: (request) => ({ role: 'shop_customer', 'shop.customer_id': request.headers['x-customer-id'] ?? '' }),
  disableDefaultMutations: true,
  ignoreRBAC: false,
  legacyRelations: 'omit',
  disableQueryLog: true,
  simpleCollections: 'only',
});

http
  .createServer((request, response) => {
    if (!timingSafeEqual(digest(request.headers['x-api-key']), digest(key))) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ errors: [{ message: 'the key is missing or wrong' }] }));
      return;
    }
    api(request, response);
  })
  .listen(Number(port), '127.0.0.1');
