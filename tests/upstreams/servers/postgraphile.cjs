// PostGraphile: node postgraphile.cjs SOCKET_FOLDER plain:4001 renamed:4002 …
const http = require('node:http');
const { Pool } = require('pg');
const { postgraphile } = require('postgraphile');

const [folder, ...words] = process.argv.slice(2);
const REFUSALS = {
  401: [401, { message: 'The key is not valid' }, {}],
  403: [403, { message: 'The key may not do this' }, {}],
  429: [429, { message: 'Too many requests' }, { 'retry-after': '30' }],
  503: [503, { message: 'Closed for repairs' }, { 'retry-after': '30' }],
};
const pool = new Pool({ host: folder, user: 'postgres', database: 'postgres' });

// What a proxy in front of PostGraphile does, which refuses nobody itself.
const front = (variant, api) => (request, response) => {
  if (REFUSALS[variant]) {
    const [status, body, headers] = REFUSALS[variant];
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
    return;
  }
  if (variant === 'dropped') response.writeHead = () => request.socket.destroy();
  api(request, response);
};

for (const word of words) {
  const [variant, port] = word.split(':');
  const schema = ['renamed', 'enum', 'changed'].includes(variant) ? variant : 'plain';
  const api = postgraphile(pool, schema, { disableDefaultMutations: true, disableQueryLog: true, ignoreRBAC: false });
  http.createServer(front(variant, api)).listen(Number(port), '127.0.0.1');
}
