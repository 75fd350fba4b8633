/** Queries of one type for an unknown urn return an object without errors, for every selection. */
import {
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSchema } from "../../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../../src/graphql/schema/entity-types.ts";
import { loadModel } from "../../../src/model/load-model.ts";
import { type RunningService, runningService } from "../../support/running-service.ts";
import { ask } from "../graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const model = loadModel();
const schema = createSchema(entityTypesOf(model.entities.keys()).members);

const hive = "urn:li:dataPlatform:hive";
const urns: Readonly<Record<string, string>> = {
  dataset: `urn:li:dataset:(${hive},none,PROD)`,
  chart: "urn:li:chart:(looker,none)",
  dashboard: "urn:li:dashboard:(looker,none)",
  dataJob: "urn:li:dataJob:(urn:li:dataFlow:(airflow,none,PROD),none)",
  dataFlow: "urn:li:dataFlow:(airflow,none,PROD)",
  dataProcessInstance: "urn:li:dataProcessInstance:none",
  container: "urn:li:container:none",
  notebook: "urn:li:notebook:(querybook,none)",
  corpUser: "urn:li:corpuser:none",
  corpGroup: "urn:li:corpGroup:none",
  dataProduct: "urn:li:dataProduct:none",
  document: "urn:li:document:none",
  glossaryTerm: "urn:li:glossaryTerm:none",
  glossaryNode: "urn:li:glossaryNode:none",
  mlModel: `urn:li:mlModel:(${hive},none,PROD)`,
  mlModelGroup: `urn:li:mlModelGroup:(${hive},none,PROD)`,
  mlFeature: "urn:li:mlFeature:(none,none)",
  mlFeatureTable: `urn:li:mlFeatureTable:(${hive},none)`,
  mlPrimaryKey: "urn:li:mlPrimaryKey:(none,none)",
  structuredProperty: "urn:li:structuredProperty:none",
};

const DEPTH = 3;

/** Selects all fields without arguments of the first level; below it, the fields that may not be null. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return "";
  if (!isObjectType(named) || depth === 0) return " { __typename }";
  const fields = Object.values(named.getFields()).filter((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type))) return false;
    if (depth === DEPTH) return true;
    return isNonNullType(field.type) || isLeafType(getNamedType(field.type));
  });
  const selected = fields.map(({ name, type: own }) => `${name}${selectionOf(own, depth - 1)}`);
  return ` { __typename ${selected.join(" ")} }`;
}

test.each(Object.entries(urns))("%s of an unknown urn has no errors", async (root, urn) => {
  const field = schema.getQueryType()?.getFields()[root];
  const selection = field === undefined ? "" : selectionOf(field.type, DEPTH);
  const query = `query($urn: String!) { ${root}(urn: $urn) ${selection} }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors, query).toBeUndefined();
  expect(body.data[root]).toMatchObject({ urn, exists: false });
});
