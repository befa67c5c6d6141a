// PostGraphile with connections and lists over the shop's database: node pages.cjs SOCKET_FOLDER PORT
const http = require('node:http');
const { Pool } = require('pg');
const { postgraphile } = require('postgraphile');

const [folder, port] = process.argv.slice(2);
const api = postgraphile(new Pool({ host: folder, user: 'postgres', database: 'postgres' }), 'shop', {
  disableDefaultMutations: true,
  disableQueryLog: true,
  legacyRelations: 'omit',
  simpleCollections: 'both',
});
http.createServer(api).listen(Number(port), '127.0.0.1');
