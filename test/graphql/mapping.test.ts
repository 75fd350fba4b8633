/**
 * The served schema compared with the one that clients are written for (datahub-schema.json), and the
 * mapping of its fields compared with the model.
 */
import { readFileSync } from "node:fs";
import {
  type GraphQLArgument,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from "graphql";
import { expect, test } from "vitest";
import { people } from "../../src/graphql/mapping/tables/people.ts";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { resolvers } from "../../src/graphql/schema/resolvers.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { coverageOf } from "./coverage.ts";

type Field = string | { readonly type: string; readonly args?: Readonly<Record<string, string>> };

interface DataHubType {
  readonly kind: string;
  readonly fields?: Readonly<Record<string, Field>>;
  readonly values?: readonly string[];
  readonly of?: readonly string[];
  readonly implements?: readonly string[];
}

const datahub: Readonly<Record<string, DataHubType>> = JSON.parse(
  readFileSync(new URL("./datahub-schema.json", import.meta.url), "utf8"),
);
const model = loadModel();
const schema = createSchema(entityTypesOf(model.entities.keys()).members);

/** Arguments and inputs may be optional where DataHub requires them. */
const accepts = (served: string, asked: string) =>
  served === asked || served === asked.replace(/!$/, "") || `${served}!` === asked;

const withoutDefault = (type: string): string => type.split(" = ")[0] ?? type;

function missingArguments(
  at: string,
  served: readonly GraphQLArgument[],
  asked: Readonly<Record<string, string>> = {},
): readonly string[] {
  return Object.entries(asked).flatMap(([name, type]) => {
    const own = served.find((one) => one.name === name);
    return own !== undefined && accepts(String(own.type), withoutDefault(type))
      ? []
      : [`${at}(${name}: ${type}), not ${own?.type}`];
  });
}

function missingIn(all: GraphQLSchema, name: string, asked: DataHubType): readonly string[] {
  const type = all.getType(name);
  if (isEnumType(type)) {
    return (asked.values ?? []).filter((one) => !type.getValue(one)).map((one) => `${name}.${one}`);
  }
  if (isUnionType(type)) {
    const members = type.getTypes().map((one) => one.name);
    return (asked.of ?? []).filter((one) => !members.includes(one));
  }
  if (isInputObjectType(type)) {
    return missingArguments(
      name,
      Object.values(type.getFields()) as unknown as readonly GraphQLArgument[],
      asked.fields as Readonly<Record<string, string>>,
    );
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [`${name}: ${asked.kind}`];
  const interfaces = type.getInterfaces().map((one) => one.name);
  return [
    ...(asked.implements ?? []).filter((one) => !interfaces.includes(one)),
    ...Object.entries(asked.fields ?? {}).flatMap(([field, declared]) => {
      const { type: fieldType, args = {} } =
        typeof declared === "string" ? { type: declared } : declared;
      const own = type.getFields()[field];
      if (own === undefined || String(own.type) !== fieldType) {
        return [`${name}.${field}: ${fieldType}, not ${own?.type}`];
      }
      return missingArguments(`${name}.${field}`, own.args, args);
    }),
  ];
}

test("the schema has every type, field, argument and value of DataHub's schema", () => {
  const missing = Object.entries(datahub).flatMap(([name, asked]) =>
    missingIn(schema, name, asked),
  );
  expect(missing).toEqual([]);
});

const hasResolver = (type: string, field: string): boolean =>
  [resolvers[type], resolvers.Entity].some((own) => own !== undefined && Object.hasOwn(own, field));

test("every path of the mapping is in the model", () => {
  expect(coverageOf(schema, model, hasResolver).wrong).toEqual([]);
});

test("the schema has every symbol of the model's enums", () => {
  expect(coverageOf(schema, model, hasResolver).unserved).toEqual([]);
});

test("a hidden user counts as one without a password", async () => {
  const isNative = people.entities?.CorpUser?.isNativeUser as (...args: unknown[]) => unknown;
  const viewer = { entities: { find: async () => ({ corpUserCredentials: { salt: "x" } }) } };
  const urn = "urn:li:corpuser:ada";
  expect(await isNative({ urn, exists: true }, viewer)).toBe(true);
  expect(await isNative({ urn, exists: false }, viewer)).toBe(false);
});
