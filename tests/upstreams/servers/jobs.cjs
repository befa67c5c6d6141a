// An API of GraphQL Yoga whose jobs take some polls: node jobs.cjs plain:4001
const http = require('node:http');
const { createSchema, createYoga } = require('graphql-yoga');
const { variants } = require('./shop.cjs');

const typeDefs = `
  type Query { node(id: ID!): Node }
  type Mutation {
    startReport(month: String!, broken: Boolean): StartReportResult!
    abortReport(report: ID!): Report
  }
  union StartReportResult = Report | Problem
  interface Node { id: ID! }
  type Report implements Node { id: ID! state: String! progress: Float! url: String }
  type Problem { message: String! }
`;

const POLLS = 3;
const reports = new Map();

const resolvers = {
  StartReportResult: { __resolveType: (value) => (value.message ? 'Problem' : 'Report') },
  Node: { __resolveType: () => 'Report' },
  Query: {
    node: (_, { id }) => {
      const report = reports.get(id);
      if (!report || report.state !== 'in progress') return report;
      report.polls += 1;
      report.progress = report.polls / POLLS;
      if (report.polls === POLLS) report.state = report.broken ? 'broken' : 'ready';
      return report;
    },
  },
  Report: { url: ({ state, month }) => (state === 'ready' ? `https://files.example/${month}.csv` : null) },
  Mutation: {
    startReport: (_, { month, broken }) => {
      if (!/^\d{4}-\d{2}$/.test(month)) return { message: `"${month}" is not a month` };
      const id = `report/${reports.size + 1}`;
      reports.set(id, { id, month, broken, state: 'in progress', progress: 0, polls: 0 });
      return reports.get(id);
    },
    abortReport: (_, { report }) => Object.assign(reports.get(report), { state: 'aborted' }),
  },
};

for (const [, port] of variants()) {
  const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false });
  http.createServer(yoga).listen(port, '127.0.0.1');
}
