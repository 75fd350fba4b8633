/** Mutations of the service's own GraphQL schema, with hostile arguments that its types allow. */
import {
  buildClientSchema,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from "graphql";
import type { Model } from "../../src/model/model.ts";
import type { Client } from "../support/client.ts";
import type { Chance } from "./chance.ts";
import { createInput, type Input } from "./hostile-input.ts";
import type { WriteRequest } from "./write-requests.ts";

const depthMax = 4;

/** These tokens would take the run's own rights away. */
const left = new Set(["revokeAccessToken"]);

export async function readSchema(client: Client): Promise<GraphQLSchema> {
  const { body } = await client.call("POST", "/api/graphql", { query: getIntrospectionQuery() });
  return buildClientSchema(body.data);
}

export function createMutations(
  chance: Chance,
  model: Model,
  schema: GraphQLSchema,
): () => WriteRequest {
  const input = createInput(chance, model);
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(
    ({ name }) => !left.has(name),
  );
  return () => {
    const { name, args, type } = chance.pick(fields);
    const given = args
      .filter(({ type }) => isNonNullType(type) || chance.yes(0.7))
      .map((arg) => ({ arg, value: argumentOf(arg.type, { chance, input }, 0, arg.name) }));
    const declared = given.map(({ arg }) => `$${arg.name}: ${arg.type}`).join(", ");
    const passed = given.map(({ arg }) => `${arg.name}: $${arg.name}`).join(", ");
    const selection = isCompositeType(getNamedType(type)) ? " { __typename }" : "";
    const query =
      given.length === 0
        ? `mutation { ${name}${selection} }`
        : `mutation(${declared}) { ${name}(${passed})${selection} }`;
    const variables = Object.fromEntries(given.map(({ arg, value }) => [arg.name, value]));
    const body = { query, variables };
    return { route: `graphql ${name}`, method: "POST", path: "/api/graphql", body };
  };
}

interface Making {
  readonly chance: Chance;
  readonly input: Input;
}

function argumentOf(type: GraphQLInputType, making: Making, depth: number, name: string): unknown {
  const { chance } = making;
  if (isNonNullType(type)) return argumentOf(type.ofType, making, depth, name);
  if (isListType(type)) {
    return chance.list(depth < depthMax ? 2 : 0, () =>
      argumentOf(type.ofType, making, depth + 1, name),
    );
  }
  if (isEnumType(type)) return chance.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(
      (field) => isNonNullType(field.type) || (depth < depthMax && chance.yes(0.5)),
    );
    return Object.fromEntries(
      fields.map((field) => [field.name, argumentOf(field.type, making, depth + 1, field.name)]),
    );
  }
  return scalar(type.name, name, making);
}

function scalar(type: string, name: string, { chance, input }: Making): unknown {
  if (type === "Boolean") return chance.yes(0.5);
  if (type === "Int") return chance.int(1000) - 10;
  if (type === "Float") return chance.int(1000) / 8;
  if (type === "Long") return chance.pick([0, -1, 1_772_409_600_000]);
  return /urn/i.test(name) ? input.urn() : input.text();
}
