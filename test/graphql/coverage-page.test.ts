/**
 * The fields without data: read from entities whose aspects have every member, and listed with the reasons on
 * a page (docs/graphql-coverage.md).
 */
import { getNamedType, isAbstractType, isObjectType } from "graphql";
import { expect, test } from "vitest";
import { isEntityTypename } from "../../src/graphql/mapping/convert.ts";
import { entityMappings } from "../../src/graphql/mapping/tables/all.ts";
import {
  descriptionAspects,
  propertiesAspects,
} from "../../src/graphql/queries/aspects-by-type.ts";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf, typenames } from "../../src/graphql/schema/entity-types.ts";
import { resolvers } from "../../src/graphql/schema/resolvers.ts";
import { ownValue } from "../../src/lib/own-value.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { readFullEntities } from "./full-entities.ts";
import { emptyFields, offFlags, otherEmptyFields, seenElsewhere } from "./seen/reasons.ts";
import { readSeenFields, webAppFields } from "./seen/seen-fields.ts";

/** Reasons by field. All other fields belong to an aspect that the entity type lacks. */
const reasons: Readonly<Record<string, string>> = {
  "SchemaMetadata.aspectVersion": "The schema of an assertion is not a stored aspect.",
  "SchemaMetadata.createdAt": "The schema of an assertion is not a stored aspect.",
  "Dataset.platformNativeType": "The model has no such member; DataHub returns null, too.",
  ...Object.fromEntries(
    ["DataProduct", "Domain", "GlossaryNode", "GlossaryTerm", "Tag"].map((type) => [
      `${type}.editableProperties`,
      "`properties` has the description.",
    ]),
  ),
};

/** Fields that a function computes from an aspect, and the aspect. */
const computedFrom: Readonly<Record<string, (entityType: string) => string | undefined>> = {
  deprecation: () => "deprecation",
  domain: () => "domains",
  platform: () => "dataPlatformInstance",
  properties: (entityType) => ownValue(propertiesAspects, entityType),
  editableProperties: (entityType) => ownValue(descriptionAspects, entityType)?.[0],
};

/** Type of entities without a type of their own; its fields are those that any of them may have. */
const ANY = "EntityProperties";

const model = loadModel();
const schema = createSchema(entityTypesOf(model.entities.keys()).members);

const resolved = (type: string, field: string): boolean =>
  [resolvers[type], ...(isEntityTypename(type) ? [resolvers.Entity] : [])].some(
    (own) => own !== undefined && Object.hasOwn(own, field),
  );

/** True if the entity type of a field lacks the aspect of the field. */
function lacksAspect(typename: string, field: string): boolean {
  const [entityType = ""] = Object.entries(typenames).find(([, name]) => name === typename) ?? [];
  const mapped = ownValue(
    { ...entityMappings.Entity, ...ownValue(entityMappings, typename) },
    field,
  );
  const aspect =
    typeof mapped === "string" ? mapped.split("/")[0] : ownValue(computedFrom, field)?.(entityType);
  return model.entities.get(entityType)?.aspects.includes(aspect ?? "") === false;
}

const { filled, empty: measured, errors } = await readFullEntities(schema, model, resolved);
const served = await readSeenFields(schema, model);
const empty = measured
  .map((field) => field.split(".") as [string, string])
  // The first page of a list starts at 0.
  .filter(([type, field]) => type !== ANY && field !== "start");
const isListed = ([type, field]: readonly [string, string]) =>
  Object.hasOwn(reasons, `${type}.${field}`);

/** The fields of the web application; mutations have tests of their own. */
const asked = [...webAppFields].flatMap(([type, fields]) =>
  type === "Mutation" ? [] : fields.map((field) => `${type}.${field}`),
);

/** True if a test sees a value; for an interface, in any of its types. */
function isSeen(field: string): boolean {
  if (filled.has(field) || served.seen.has(field) || seenElsewhere.has(field)) return true;
  const [typename = "", name = ""] = field.split(".");
  const type = schema.getType(typename);
  const result = isObjectType(type) ? getNamedType(type.getFields()[name]?.type) : undefined;
  // 0 is the first page, and the latest version.
  if (["Int", "Long"].includes(String(result)) && ["start", "aspectVersion"].includes(name)) {
    return true;
  }
  return (
    isAbstractType(type) &&
    schema.getPossibleTypes(type).some((possible) => isSeen(`${possible.name}.${name}`))
  );
}

function page(): string {
  const byField = Map.groupBy(
    empty.filter((one) => !isListed(one)),
    ([, field]) => field,
  );
  const rows = [...byField]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, types]) => `| \`${field}\` | ${types.map(([type]) => type).join(", ")} |`);
  const others = empty
    .filter(isListed)
    .map(([type, field]) => [`${type}.${field}`, "null", reasons[`${type}.${field}`]] as const);
  const web = asked.length;
  const rowsOf = (fields: readonly (readonly [string, string, string | undefined])[]) =>
    fields.map(([field, value, reason]) => `| \`${field}\` | ${value} | ${reason} |`).join("\n");
  return `# GraphQL fields without data

The schema has every type and field of DataHub's schema. This page lists the fields that are always
null, empty, disabled or an error. \`npm test -- test/graphql/coverage-page.test.ts -u\` generates it
from the schema, the mapping and the metadata model.

Enums have every symbol of the model. Where an aspect has another value, a required field is
\`OTHER\` or \`UNKNOWN\`, and any other field is null.

## Fields of aspects that entity types lack

These entity types do not have the aspect of the field, so it is null.

| Field | Types |
| --- | --- |
${rows.join("\n")}

## Fields of DataHub's web application

The web application reads ${web} fields. Tests read each of them from a catalog with complete
entities, and see a value in all but these. A type in the table stands for its fields.

| Field | Value | Reason |
| --- | --- | --- |
${rowsOf(emptyFields)}
| \`FeatureFlagsConfig\` | false | The service lacks these features: ${offFlags.map((flag) => flag.split(".")[1]).join(", ")} |

## Other fields

| Field | Value | Reason |
| --- | --- | --- |
${rowsOf([...otherEmptyFields, ...others])}
`;
}

test("a field has a value if the aspects of its entity have one, except for the listed fields", () => {
  const unexplained = empty.filter((one) => !isListed(one) && !lacksAspect(...one));
  expect(unexplained).toEqual([]);
});

test("reading complete aspects fails only for required entities of another type", () => {
  const others = errors.filter((message) => !message.includes("Cannot return null"));
  expect(others).toEqual([]);
});

test("the page lists every field without data", async () => {
  await expect(page()).toMatchFileSnapshot("../../docs/graphql-coverage.md");
});

test("every field of the web application has a value in a test, or a reason for its absence", () => {
  const unseen = asked.filter((field) => !isSeen(field));
  const listed = [...emptyFields.map(([field]) => field), ...offFlags];
  const explained = new Set([...listed, ...Object.keys(reasons)]);
  const isExplained = (field: string) =>
    explained.has(field) || explained.has(field.split(".")[0] ?? "");
  expect(unseen.filter((field) => !isExplained(field))).toEqual([]);
  const stale = listed.filter((field) =>
    asked.some((one) => (one === field || one.split(".")[0] === field) && isSeen(one)),
  );
  expect(stale).toEqual([]);
});

test("reading the fields of the web application returns no errors", () => {
  expect(served.errors).toEqual([]);
});
