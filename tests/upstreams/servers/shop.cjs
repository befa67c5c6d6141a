// The API that each server of JavaScript serves, in variants that each fail in one way of their own.
//
// A program is started as `node yoga.cjs plain:4001 renamed:4002 …` and serves each variant on its port.
const { GraphQLError } = require('graphql');

const PUBLISHED = 'paint(color: Color, size: Size, mode: String): Int coat: Int';
const CHANGED = 'paint(color: Color, size: Size, mode: Int): Int coat(layers: Int!): Int';
const SDL = (variant) => `
  type Query {
    fails: String
    failsHard: String!
    ${variant === 'renamed' ? 'sum' : 'total'}: Int
    color: Color
    cut: String
    node: Node
    paid: Int
    receipt(payment: Int): Color
    ${variant === 'changed' ? CHANGED : PUBLISHED}
  }
  type Mutation { pay: Int order: Order }
  type Order { id: Int! }
  type Node { child: Node name: String }
  input Size { width: Int ${variant === 'changed' ? '' : 'depth: Int'} }
  enum Color { RED ${variant === 'changed' ? '' : 'GREEN'} ${variant === 'enum' ? 'PURPLE' : ''} }
`;

const MAX_DEPTH = 3;
const SLOW_MS = 2500;
const REFUSALS = {
  401: { status: 401, message: 'The key is not valid', headers: {} },
  403: { status: 403, message: 'The key may not do this', headers: {} },
  429: { status: 429, message: 'Too many requests', headers: { 'retry-after': '30' } },
  503: { status: 503, message: 'Closed for repairs', headers: { 'retry-after': '30' } },
};

// Variants whose resolvers refuse, as GraphQL does, with status 200.
const CODES = { unauthenticated: 'UNAUTHENTICATED', forbidden: 'FORBIDDEN', throttled: 'THROTTLED' };

let paid = 0;

// `drop` in the context of a request closes its connection.
const resolvers = (variant) => {
  const fail = () => {
    const message = 'the stock system is down';
    const code = CODES[variant];
    throw code ? new GraphQLError(message, { extensions: { code } }) : new Error(message);
  };
  return {
    Query: {
      fails: fail,
      failsHard: fail,
      [variant === 'renamed' ? 'sum' : 'total']: () => 3,
      color: () => (variant === 'enum' ? 'PURPLE' : 'RED'),
      cut: () => 'Party 🎉'.slice(0, 7),
      node: () => ({}),
      paid: () => paid,
      receipt: () => 'RED',
      paint: () => 1,
      coat: () => 1,
    },
    Node: { child: () => ({}), name: () => 'leaf' },
    Mutation: {
      pay: async (_, __, context) => {
        paid += 1;
        if (variant === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
        if (variant === 'dropped') context.drop();
        return paid;
      },
      order: () => {
        paid += 1;
        return { id: null };
      },
    },
  };
};

// The same for servers that have no resolvers, but a root value, whose functions do not get the parent.
const rooted = (variant) => {
  const { Query, Mutation, Node } = resolvers(variant);
  const mutations = Object.entries(Mutation).map(([name, run]) => [name, (_, context) => run(null, {}, context)]);
  return { ...Query, ...Object.fromEntries(mutations), node: () => Node };
};

// What a proxy in front of a server does, which refuses nobody itself.
const refusing = (variant, api) => (request, response) => {
  const refusal = REFUSALS[variant];
  if (!refusal) return api(request, response);
  response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
  return response.end(JSON.stringify({ message: refusal.message }));
};

const variants = () => process.argv.slice(2).map((word) => word.split(':')).map(([name, port]) => [name, Number(port)]);

module.exports = { MAX_DEPTH, REFUSALS, SDL, refusing, resolvers, rooted, variants };
