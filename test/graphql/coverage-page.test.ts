/**
 * The fields without data: read from entities whose aspects have every member and from a service with a
 * complete catalog, and listed with the reasons on a page (docs/graphql-coverage.md).
 */
import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isObjectType,
} from "graphql";
import { expect, test } from "vitest";
import { isEntityTypename } from "../../src/graphql/mapping/convert.ts";
import { entityMappings } from "../../src/graphql/mapping/tables/all.ts";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import {
  descriptionPathOf,
  entityTypesOf,
  propertiesAspectOf,
  typenames,
} from "../../src/graphql/schema/entity-types.ts";
import { resolvers } from "../../src/graphql/schema/resolvers.ts";
import { ownValue } from "../../src/lib/own-value.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { readFullEntities } from "./full-entities.ts";
import { withoutEffect } from "./seen/arguments.ts";
import { emptyFields, offFlags, seenElsewhere } from "./seen/reasons.ts";
import { readSeenFields } from "./seen/seen-fields.ts";

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
  properties: propertiesAspectOf,
  editableProperties: (entityType) => descriptionPathOf(entityType)[0],
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

/** The types that fields of queries and mutations return. */
function reachable(type: GraphQLNamedType | undefined | null, found: Set<GraphQLObjectType>): void {
  if (isAbstractType(type)) for (const one of schema.getPossibleTypes(type)) reachable(one, found);
  if (!isObjectType(type) || found.has(type)) return;
  found.add(type);
  for (const field of Object.values(type.getFields())) reachable(getNamedType(field.type), found);
}

const types = new Set<GraphQLObjectType>();
reachable(schema.getQueryType(), types);
reachable(schema.getMutationType(), types);

/** All fields; mutations have tests of their own. */
const asked = [...types].flatMap((type) =>
  type === schema.getMutationType()
    ? []
    : Object.keys(type.getFields()).map((field) => `${type.name}.${field}`),
);

/** True if a test sees a value. */
function isSeen(field: string): boolean {
  if (filled.has(field) || served.seen.has(field) || seenElsewhere.has(field)) return true;
  const [typename = "", name = ""] = field.split(".");
  const type = schema.getType(typename);
  const result = isObjectType(type) ? getNamedType(type.getFields()[name]?.type) : undefined;
  // 0 is the first page, and the latest version.
  return ["Int", "Long"].includes(String(result)) && ["start", "aspectVersion"].includes(name);
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
  const rowsOf = (fields: readonly (readonly [string, string, string | undefined])[]) =>
    fields.map(([field, value, reason]) => `| \`${field}\` | ${value} | ${reason} |`).join("\n");
  return `# GraphQL fields without data

The schema has every type and field of DataHub's schema. This page lists the fields that are always
null, empty, disabled or an error, and the arguments without an effect.
\`npm test -- test/graphql/coverage-page.test.ts -u\` generates it from the schema, the mapping and
the metadata model.

Enums have every symbol of the model. Where an aspect has another value, a required field is
\`OTHER\` or \`UNKNOWN\`, and any other field is null.

## Fields of aspects that entity types lack

These entity types do not have the aspect of the field, so it is null.

| Field | Types |
| --- | --- |
${rows.join("\n")}

## Other fields

A test reads each of the ${asked.length} fields that queries return: from entities whose aspects have every
member, and from a service with a complete catalog. All fields have a value there, except those of
the table above and of this one. A type stands for all its fields; it is \`not returned\` if no field
has a value of the type.

| Field | Value | Reason |
| --- | --- | --- |
${rowsOf([...emptyFields, ...others])}
| \`FeatureFlagsConfig\` | false | The service lacks these features: ${offFlags.map((flag) => flag.split(".")[1]).join(", ")} |

## Arguments without effect

The service accepts these arguments and members of inputs, and ignores them. An input stands for all
its members. A test fails for any other argument that no resolver reads.

| Argument | Reason |
| --- | --- |
${withoutEffect.map(([name, reason]) => `| \`${name}\` | ${reason} |`).join("\n")}
`;
}

test("a field has a value if the aspects of its entity have one, except for the listed fields", () => {
  const unexplained = empty.filter((one) => !isListed(one) && !lacksAspect(...one));
  expect(unexplained).toEqual([]);
});

test("reading complete aspects fails only for required entities of another type", () => {
  const others = errors.filter((message) => !message.includes("is not of the type"));
  expect(others).toEqual([]);
});

test("the page lists every field without data", async () => {
  await expect(page()).toMatchFileSnapshot("../../docs/graphql-coverage.md");
});

test("every field has a value in a test, or a reason for its absence", () => {
  const unseen = asked.filter((field) => !isSeen(field));
  const listed = [...emptyFields.map(([field]) => field), ...offFlags];
  const explained = new Set([...listed, ...Object.keys(reasons)]);
  const lacking = new Set(empty.map((field) => field.join(".")));
  const isExplained = (field: string) =>
    lacking.has(field) || explained.has(field) || explained.has(field.split(".")[0] ?? "");
  expect(unseen.filter((field) => !isExplained(field))).toEqual([]);
  const stale = listed.filter((field) =>
    asked.some((one) => (one === field || one.split(".")[0] === field) && isSeen(one)),
  );
  expect(stale).toEqual([]);
});

test("reading every field returns no errors", () => {
  expect(served.errors).toEqual([]);
});
