/** The secrets of the model: the aspects that contain them are restricted, also in search and topics. */
import { describe, expect, test } from "vitest";
import { configuredModel } from "../../src/app/load-model.ts";
import { privilegedTypes } from "../../src/auth/access/privileged-writes.ts";
import { restrictedNames } from "../../src/auth/access/restricted-entities.ts";
import { readConfig } from "../../src/config/config.ts";
import { secretAspects, secretEntityTypes } from "../../src/core/secret-aspects.ts";
import type { Field, FieldType } from "../../src/model/model.ts";

const { model } = configuredModel(readConfig({}, {}));
const { entityTypes, aspects } = restrictedNames(model);

/** Paths of all fields of a record, nested ones included. */
function pathsIn(record: string, above: readonly string[] = []): readonly string[] {
  const type = model.types.get(record);
  if (type?.kind !== "record" || above.includes(record)) return [];
  return type.fields.flatMap((field) => [
    field.name,
    ...recordsIn(field.type).flatMap((inner) =>
      pathsIn(inner, [...above, record]).map((path) => `${field.name}.${path}`),
    ),
  ]);
}

function recordsIn(type: FieldType): readonly string[] {
  switch (type.kind) {
    case "named":
      return [type.name];
    case "array":
      return recordsIn(type.items);
    case "map":
      return recordsIn(type.values);
    case "union":
      return type.members.flatMap((member) => recordsIn(member.type));
    default:
      return [];
  }
}

const suspicious =
  /(?:secret|password|passphrase|credential|token|salt|encrypted|private|apiKey|customHeaders|recipe)/i;

/** Fields with suspicious names that contain no secret. */
const harmless = [
  // Urns of secrets, which are entities of their own.
  "icebergWarehouseInfo.clientSecret",
  "icebergWarehouseInfo.tempCredentialExpirationSeconds",
  // Words of search texts.
  "searchTemplateProperties.normalization.fuzzyTokenThreshold",
  "searchTemplateProperties.normalization.mediumFuzzyTokenThreshold",
  "searchTemplateProperties.normalization.broadQueryTokenCap",
  "semanticContent.embeddings.totalTokens",
  "semanticContent.embeddings.chunks.tokenCount",
];

test("every field with the name of a secret belongs to a restricted aspect", () => {
  const found = [...model.aspects.values()].flatMap(({ name, record }) =>
    pathsIn(record)
      .filter((path) => suspicious.test(path.slice(path.lastIndexOf(".") + 1)))
      .map((path) => ({ name, path: `${name}.${path}` })),
  );
  expect(found.length).toBeGreaterThan(10);
  const open = found.filter(({ name }) => !aspects.has(name));
  expect(open.map(({ path }) => path).filter((path) => !harmless.includes(path))).toEqual([]);
});

test("every secret is restricted, and no search field shows one", () => {
  expect([...secretEntityTypes].filter((type) => !entityTypes.has(type))).toEqual([]);
  expect([...secretAspects].filter((aspect) => !aspects.has(aspect))).toEqual([]);
  const searched = [...secretAspects].flatMap((aspect) => {
    const type = model.types.get(model.aspects.get(aspect)?.record ?? "");
    const fields: readonly Field[] = type?.kind === "record" ? type.fields : [];
    return fields.filter((field) => field.searchable).map((field) => `${aspect}.${field.name}`);
  });
  expect(searched.sort()).toEqual([
    "dataHubConnectionDetails.name",
    "dataHubConnectionDetails.type",
    "mcpServerProperties.url",
  ]);
});

describe("a secret of the service or of all users", () => {
  test.each([
    ["globalSettings", "globalSettingsInfo"],
    ["dataHubConnection", "dataHubConnectionDetails"],
    ["dataHubSecret", "dataHubSecretValue"],
    ["inviteToken", "inviteToken"],
    ["corpuser", "corpUserCredentials"],
    ["service", "mcpServerProperties"],
    ["dataHubIngestionSource", "dataHubIngestionSourceInfo"],
    ["dataHubExecutionRequest", "dataHubExecutionRequestInput"],
  ])("%s %s also needs a privilege to be written", (entityType, aspect) => {
    const rule = privilegedTypes[entityType];
    expect(rule).toBeDefined();
    expect(rule?.aspects === undefined || rule.aspects.includes(aspect)).toBe(true);
  });
});
