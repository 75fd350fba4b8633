/**
 * The fields without data: read from entities whose aspects have every member, and listed with the reasons on
 * a page (docs/graphql-coverage.md).
 */
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

/** Fields with a resolver or a member that is always empty. */
const constant: readonly (readonly [field: string, value: string, reason: string])[] = [
  ["Query.latestProductUpdate", "null", "The service has no news about releases of DataHub."],
  ["Query.semanticSearch", "error", "The service computes no embeddings."],
  ["Query.semanticSearchAcrossEntities", "error", "The service computes no embeddings."],
  ["Query.getPresignedUploadUrl", "error", "The service stores no files."],
  ["AppConfig.semanticSearchConfig", "disabled", "The service computes no embeddings."],
  ["Entity.aspects(autoRenderOnly: true)", "[]", "The model annotates no aspect with a rendering."],
  ["RawAspect.renderSpec", "null", "The model annotates no aspect with a rendering."],
  [
    "SearchAcrossLineageResults.freshness",
    "null",
    "Lineage is read from the views, not from a cache.",
  ],
  [
    "SearchAcrossLineageResults.lineageSearchPath",
    "null",
    "Searches across lineage have a single algorithm.",
  ],
  ["SearchResult.insights", "[]", "DataHub returns none, too."],
];

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

const { empty: measured, errors } = await readFullEntities(schema, model, resolved);
const empty = measured
  .map((field) => field.split(".") as [string, string])
  // The first page of a list starts at 0.
  .filter(([type, field]) => type !== ANY && field !== "start");
const isListed = ([type, field]: readonly [string, string]) =>
  Object.hasOwn(reasons, `${type}.${field}`);

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
    .map(([type, field]) => `| \`${type}.${field}\` | null | ${reasons[`${type}.${field}`]} |`);
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

## Other fields

| Field | Value | Reason |
| --- | --- | --- |
${[...constant.map(([field, value, reason]) => `| \`${field}\` | ${value} | ${reason} |`), ...others].join("\n")}
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
