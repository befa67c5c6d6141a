// Print the schema of Vendure's admin API as its server makes it, without a server, a database or a plugin.
//
// The steps and their order are those of @vendure/core's dist/api/config/configure-graphql-module.js; all of them are
// functions of schemas. What they need besides @vendure/core stands in package.json.
//
//     NODE_PATH=node_modules node print_schema.cjs FOLDER_OF_VENDURE_CORE
const { readFileSync, readdirSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { mergeTypeDefs } = require("@graphql-tools/merge");
const { buildASTSchema, parse, printSchema } = require("graphql");

const api = join(resolve(process.argv[2]), "dist", "api");
const { generateAuthenticationTypes } = require(join(api, "config", "generate-auth-types.js"));
const { generateErrorCodeEnum } = require(join(api, "config", "generate-error-code-enum.js"));
const { generateListOptions } = require(join(api, "config", "generate-list-options.js"));
const { generatePermissionEnum } = require(join(api, "config", "generate-permissions.js"));
const fields = require(join(api, "config", "graphql-custom-fields.js"));

const texts = ["admin-api", "common"].flatMap((folder) =>
  readdirSync(join(api, "schema", folder))
    .filter((name) => name.endsWith(".graphql"))
    .sort()
    .map((name) => readFileSync(join(api, "schema", folder, name), "utf8")),
);

// Nothing is customised: every entity is there and has no field of its own.
const ENTITIES =
  "Address Administrator Asset Channel Collection Customer CustomerGroup Facet FacetValue Fulfillment GlobalSettings " +
  "Order OrderLine PaymentMethod Product ProductOption ProductOptionGroup ProductVariant ProductVariantPrice " +
  "Promotion Region Seller ShippingMethod StockLocation TaxCategory TaxRate User Zone";
const custom = Object.fromEntries(ENTITIES.split(" ").map((entity) => [entity, []]));

// What NativeAuthenticationStrategy defines; its own module would bring the database.
const native = {
  name: "native",
  defineInputType: () => parse("input NativeAuthInput { username: String! password: String! }"),
};

const steps = [
  (schema) => generateListOptions(schema),
  (schema) => fields.addGraphQLCustomFields(schema, custom, false),
  (schema) => fields.addOrderLineCustomFieldsInput(schema, custom.OrderLine),
  (schema) => fields.addModifyOrderCustomFields(schema, custom.Order),
  (schema) => fields.addShippingMethodQuoteCustomFields(schema, custom.ShippingMethod),
  (schema) => fields.addPaymentMethodQuoteCustomFields(schema, custom.PaymentMethod),
  (schema) => generateAuthenticationTypes(schema, [native]),
  (schema) => generateErrorCodeEnum(schema),
  (schema) => fields.addServerConfigCustomFields(schema, custom),
  (schema) => fields.addActiveAdministratorCustomFields(schema, custom.Administrator),
  (schema) => generatePermissionEnum(schema, []),
];
const schema = steps.reduce((before, step) => step(before), buildASTSchema(mergeTypeDefs(texts)));
process.stdout.write(`${printSchema(schema)}\n`);
