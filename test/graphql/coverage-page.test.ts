/** The page that lists the fields without data, with the reasons (docs/graphql-coverage.md). */
import { expect, test } from "vitest";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { resolvers } from "../../src/graphql/schema/resolvers.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { coverageOf } from "./coverage.ts";

/** Reasons by field. Fields that are not listed here belong to an aspect that the entity type lacks. */
const reasons: Readonly<Record<string, string>> = {
  "SchemaMetadata.aspectVersion": "The schema of an assertion is not a stored aspect.",
  "SchemaMetadata.createdAt": "The schema of an assertion is not a stored aspect.",
  "Dataset.platformNativeType": "The model has no such member; DataHub returns null, too.",
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

/** Type of entities without a type of their own; its fields are those that any of them may have. */
const ANY = "EntityProperties";

function page(): string {
  const model = loadModel();
  const schema = createSchema(entityTypesOf(model.entities.keys()).members);
  const resolved = (type: string, field: string) =>
    [resolvers[type], resolvers.Entity].some(
      (own) => own !== undefined && Object.hasOwn(own, field),
    );
  const empty = coverageOf(schema, model, resolved)
    .empty.map((field) => field.split(".") as [string, string])
    .filter(([type]) => type !== ANY);
  const byField = Map.groupBy(
    empty.filter(([type, field]) => !Object.hasOwn(reasons, `${type}.${field}`)),
    ([, field]) => field,
  );
  const rows = [...byField]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, types]) => `| \`${field}\` | ${types.map(([type]) => type).join(", ")} |`);
  const others = empty
    .filter(([type, field]) => Object.hasOwn(reasons, `${type}.${field}`))
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

test("the page lists every field without data", async () => {
  await expect(page()).toMatchFileSnapshot("../../docs/graphql-coverage.md");
});
