// Asks for the schema as GraphiQL does, and writes the SDL that graphql-js makes of the answer.
import { createRequire } from 'node:module';

const [home, url] = process.argv.slice(2);
const { buildClientSchema, getIntrospectionQuery, printSchema } = createRequire(`${home}/`)('graphql');
const response = await fetch(url, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, multipart/mixed' },
  body: JSON.stringify({
    query: getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true }),
    operationName: 'IntrospectionQuery',
  }),
});
const { data, errors } = await response.json();
if (errors) throw new Error(JSON.stringify(errors));
process.stdout.write(printSchema(buildClientSchema(data)));
