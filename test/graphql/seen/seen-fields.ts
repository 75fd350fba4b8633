/** Reads all fields that the web application uses from a service with a complete catalog. */
import { readFileSync } from "node:fs";
import {
  type FieldNode,
  type GraphQLObjectType,
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
import { runningService } from "../../support/running-service.ts";
import { urnOf } from "../full-values.ts";
import { asActor, ask, ROOT } from "../graphql-client.ts";
import { queries as entityRoots, writeEntities } from "../queries/entity-roots.ts";
import { queries as rootQueries } from "../queries/root-queries.ts";
import { fieldArguments, moreAspects, mutationCalls, queryCalls } from "./calls.ts";
import { writeFullCatalog } from "./full-catalog.ts";
import { collect, hasValue, selectionsOf } from "./selection.ts";

/** Names of the fields that DataHub's web application reads, by type. */
export const webAppFields: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(
    JSON.parse(readFileSync(new URL("./web-app-fields.json", import.meta.url), "utf8")) as Readonly<
      Record<string, string>
    >,
  ).map(([type, fields]) => [type, fields.split(" ")]),
);

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

/** An object type and its interfaces. */
function typesOf(schema: GraphQLSchema, typename: string): readonly string[] {
  const type = schema.getType(typename);
  return [typename, ...(isObjectType(type) ? type.getInterfaces().map(({ name }) => name) : [])];
}

export async function readSeenFields(schema: GraphQLSchema, model: Model) {
  const seen = new Set<string>();
  const errors = new Set<string>();
  await using service = await runningService();
  const sampled = await writeEntities(service.client);
  for (const [urn, aspect, value] of moreAspects) {
    const reply = await service.client.upsert(urn, aspect, value);
    if (reply.status !== 200) throw new Error(`${urn} ${aspect}: ${JSON.stringify(reply.body)}`);
  }
  const position = await writeFullCatalog(service.client, model);
  const wanted = {
    schema,
    wants: (typename: string, field: string) =>
      typesOf(schema, typename).some((name) => webAppFields.get(name)?.includes(field)),
    args: fieldArguments,
  };
  const headers = {
    ...asActor(ROOT),
    "X-Annals-Min-Position": String(Math.max(position, sampled)),
  };
  async function read(query: string) {
    const { body } = await ask(service.client, query, {}, headers);
    for (const { message, path } of body.errors ?? [])
      errors.add(`${query.slice(0, 100)} ${path?.join("/")}: ${message}`);
    if (body.data === undefined)
      errors.add(`${query.slice(0, 100)}: ${JSON.stringify(body).slice(0, 300)}`);
    return body.data ?? {};
  }
  async function readRoot(operation: "query" | "mutation", call: string) {
    const root = operation === "query" ? schema.getQueryType() : schema.getMutationType();
    const [name = ""] = call.match(/^\w+/) ?? [];
    const named = getNamedType(root?.getFields()[name]?.type);
    const selections = isObjectType(named)
      ? selectionsOf(named, wanted)
      : [isLeafType(named) ? "" : "__typename ... on Entity { urn type }"];
    for (const selection of operation === "query" ? selections : selections.slice(0, 1)) {
      const data = await read(
        `${operation} { ${call}${selection === "" ? "" : ` { ${selection} }`} }`,
      );
      collect(data, seen);
      if (hasValue(data[name])) seen.add(`${root?.name}.${name}`);
    }
  }
  for (const [entityType, typename] of Object.entries(typenames)) {
    const type = schema.getType(typename) as GraphQLObjectType;
    for (const selection of selectionsOf(type, wanted)) {
      const data = await read(
        `{ entity(urn: "${urnOf(model, entityType)}") { __typename ... on ${typename} { ${selection} } } }`,
      );
      collect(data, seen);
    }
  }
  for (const call of mutationCalls) await readRoot("mutation", call);
  const golden = callsIn([...Object.values(entityRoots), ...Object.values(rootQueries)]);
  for (const call of [...golden, ...queryCalls]) await readRoot("query", call);
  return { seen, errors: [...errors] };
}
