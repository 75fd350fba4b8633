/** The page that lists the fields without data, with the reasons (docs/graphql-coverage.md). */
import { expect, test } from "vitest";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { resolvers } from "../../src/graphql/schema/resolvers.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { coverageOf } from "./coverage.ts";

/** By field; a field of an entity type that is not listed has no aspect in the model. */
const reasons: Readonly<Record<string, string>> = {
  "SchemaMetadata.aspectVersion": "In an assertion, a schema is no aspect of its own.",
  "SchemaMetadata.createdAt": "In an assertion, a schema is no aspect of its own.",
  "Dataset.platformNativeType": "The model has no member for it; DataHub has none either.",
};

/** Fields that have a resolver, or a member, which is always empty. */
const constant: readonly (readonly [field: string, value: string, reason: string])[] = [
  ["Query.latestProductUpdate", "null", "The releases of DataHub do not concern this service."],
  ["Query.semanticSearch", "error", "The service computes no embeddings."],
  ["Query.semanticSearchAcrossEntities", "error", "The service computes no embeddings."],
  ["Query.getPresignedUploadUrl", "error", "The service has no bucket for files."],
  ["AppConfig.semanticSearchConfig", "disabled", "The service computes no embeddings."],
  ["AggregationMetadata.displayName", "null", "Clients show the name of the entity."],
  ["EntityRelationship.created", "null", "The graph lists ends of edges without their times."],
  ["Entity.aspects(autoRenderOnly: true)", "[]", "No aspect of the model has a rendering."],
  ["Health.latestAssertionStatusByType", "null", "Runs are summed over all types."],
  ["RawAspect.renderSpec", "null", "No aspect of the model has a rendering."],
  ["SearchAcrossLineageResults.freshness", "null", "Answers come from the current views."],
  ["SearchAcrossLineageResults.lineageSearchPath", "null", "There is one way to search."],
  ["SearchResult.insights", "[]", "DataHub has none either."],
];

const NO_ASPECT = "The model has no such aspect for these entity types.";
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

The schema has every type and field of DataHub's. This page lists the fields that are always null or
empty. \`npm test -- test/graphql/coverage-page.test.ts -u\` generates it from the schema, the mapping
and the metadata model.

## Entity types without an aspect

${NO_ASPECT} The fields are null there.

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
