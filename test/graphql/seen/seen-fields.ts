/** Reads the fields of all query roots and entity types from a service with a complete catalog. */
import {
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  parse,
  print,
  visit,
} from "graphql";
import { typenames } from "../../../src/graphql/schema/entity-types.ts";
import type { Model } from "../../../src/model/model.ts";
import type { Client } from "../../support/client.ts";
import { runningService } from "../../support/running-service.ts";
import { urnOf } from "../full-values.ts";
import { asActor, ask, makeToken, ROOT } from "../graphql-client.ts";
import { queries as entityRoots, writeEntities } from "../queries/entity-roots.ts";
import { queries as rootQueries } from "../queries/root-queries.ts";
import { moreAspects, mutationCalls, queryCalls, untyped } from "./calls.ts";
import { writeFullCatalog } from "./full-catalog.ts";
import { collect, hasValue, selectionsOf } from "./selection.ts";

export interface SeenFields {
  /** `Type.field` of the fields with a value in any answer. */
  readonly seen: ReadonlySet<string>;
  /** Messages of errors, with the queries. */
  readonly errors: readonly string[];
}

export async function readSeenFields(schema: GraphQLSchema, model: Model): Promise<SeenFields> {
  await using service = await runningService();
  const { client } = service;
  await writeEntities(client);
  for (const [urn, aspect, value] of moreAspects) {
    const reply = await client.upsert(urn, aspect, value);
    if (reply.status !== 200) throw new Error(`${urn} ${aspect}: ${JSON.stringify(reply.body)}`);
  }
  const position = await writeFullCatalog(client, model);
  const { token } = await makeToken(client);
  const reader = createReader(client, schema, position);
  const entityTypes = [
    ...Object.entries(typenames),
    ...untyped.map((entityType) => [entityType, "CatalogEntity"] as const),
  ];
  for (const [entityType, typename] of entityTypes) {
    await reader.entity(urnOf(model, entityType), typename);
  }
  for (const call of mutationCalls) await reader.root("mutation", call);
  const golden = callsIn([...Object.values(entityRoots), ...Object.values(rootQueries)]);
  for (const call of [...golden, ...queryCalls, `getAccessTokenMetadata(token: "${token}")`]) {
    await reader.root("query", call);
  }
  return { seen: reader.seen, errors: reader.errors };
}

function createReader(client: Client, schema: GraphQLSchema, position: number) {
  const seen = new Set<string>();
  const errors: string[] = [];
  const headers = { ...asActor(ROOT), "X-Annals-Min-Position": String(position) };

  async function read(query: string) {
    const { body } = await ask(client, query, {}, headers);
    if (body.errors !== undefined || body.data === undefined) {
      errors.push(`${query.slice(0, 100)}: ${JSON.stringify(body.errors ?? body).slice(0, 300)}`);
    }
    collect(body.data, seen);
    return body.data ?? {};
  }

  return {
    seen,
    errors,
    async entity(urn: string, typename: string): Promise<void> {
      const type = schema.getType(typename);
      for (const selection of isObjectType(type) ? selectionsOf(type, schema) : []) {
        await read(`{ entity(urn: "${urn}") { __typename ... on ${typename} { ${selection} } } }`);
      }
    },
    /** Calls a root with all fields of its result; a mutation once. */
    async root(operation: "query" | "mutation", call: string): Promise<void> {
      const root = operation === "query" ? schema.getQueryType() : schema.getMutationType();
      const [name = ""] = call.match(/^\w+/) ?? [];
      const named = getNamedType(root?.getFields()[name]?.type);
      const interfaces = [isLeafType(named) ? "" : "__typename ... on Entity { urn type }"];
      const selections = isObjectType(named) ? selectionsOf(named, schema) : interfaces;
      for (const selection of operation === "query" ? selections : selections.slice(0, 1)) {
        const data = await read(
          `${operation} { ${call} ${selection === "" ? "" : `{ ${selection} }`} }`,
        );
        if (hasValue(data[name])) seen.add(`${root?.name}.${name}`);
      }
    },
  };
}

/** The calls of roots in documents, as `name(arguments)`. */
function callsIn(documents: readonly string[]): readonly string[] {
  const calls = new Set<string>();
  for (const document of documents) {
    visit(parse(document), {
      OperationDefinition({ selectionSet }) {
        for (const one of selectionSet.selections) {
          if (one.kind === "Field") calls.add(callOf(one));
        }
        return false;
      },
    });
  }
  return [...calls];
}

const callOf = ({ name, arguments: args = [] }: FieldNode): string =>
  `${name.value}${args.length === 0 ? "" : `(${args.map(print).join(", ")})`}`;
