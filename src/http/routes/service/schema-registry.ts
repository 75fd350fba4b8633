/**
 * /schema-registry/api: the part of a schema registry's interface that its clients use. Reads are
 * open: schemas say nothing of what is in the catalog, and producers and consumers of topics often
 * have no token for this service. Registering what is not there yet is judged by the registry.
 */
import type { RegisteredSchema, SchemaRegistry } from "../../../feed/schema-registry.ts";
import { appendAll } from "../../../lib/lists.ts";
import { type ApiRequest, type Endpoint, type Parameter, text } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import { registrySettings, registryRow as row } from "./registry-settings.ts";

export interface SchemaRegistryOptions {
  readonly registry: SchemaRegistry;
}

const prefixed: Parameter = query.string("subjectPrefix", "Only subjects with this prefix");

const schemaBody = {
  type: "object",
  required: ["schema"],
  properties: {
    schema: text("An Avro schema as JSON text"),
    schemaType: { enum: ["AVRO", null], description: "AVRO, which is the default" },
    references: {
      type: ["array", "null"],
      maxItems: 0,
      description: "Always empty: schemas have no references",
    },
  },
} as const;

const writing = { method: "POST", body: schemaBody } as const;

export const schemaRegistryRoutes = ({ registry }: SchemaRegistryOptions): readonly Endpoint[] => [
  row("getRegistry", "", () => ({})),
  ...schemaRows(registry),
  ...subjectRows(registry),
  ...registrySettings(registry),
];

const schemaRows = (registry: SchemaRegistry): readonly Endpoint[] => [
  row(
    "getSchemas",
    "/schemas",
    async ({ parameters }) => {
      const found: object[] = [];
      for (const name of await subjectsLike(registry, parameters)) {
        const versions = await registry.versions(name);
        appendAll(
          found,
          (parameters.latestOnly === true ? versions.slice(-1) : versions).map(shown),
        );
      }
      return found;
    },
    {
      parameters: [
        prefixed,
        query.boolean("latestOnly", "Only the latest version of each subject"),
      ],
    },
  ),
  row("getSchemaTypes", "/schemas/types", () => ["AVRO"]),
  row("getSchema", "/schemas/ids/{id}", async (request) => ({
    ...{ schema: await schemaOf(registry, request), schemaType: "AVRO" },
  })),
  row("getSchemaText", "/schemas/ids/{id}/schema", async (request) =>
    JSON.parse(await schemaOf(registry, request)),
  ),
  row("getSubjectsOfSchema", "/schemas/ids/{id}/subjects", async (request) => [
    ...new Set((await usesOf(registry, request)).map((use) => use.subject)),
  ]),
  row("getVersionsOfSchema", "/schemas/ids/{id}/versions", (request) => usesOf(registry, request)),
];

const subjectRows = (registry: SchemaRegistry): readonly Endpoint[] => [
  row("getSubjects", "/subjects", ({ parameters }) => subjectsLike(registry, parameters), {
    parameters: [prefixed],
  }),
  row("getVersions", "/subjects/{subject}/versions", async ({ path }) =>
    (await registry.versions(path.subject ?? "")).map((one) => one.version),
  ),
  row("getVersion", "/subjects/{subject}/versions/{version}", async (request) =>
    shown(await versionOf(registry, request)),
  ),
  row("getVersionText", "/subjects/{subject}/versions/{version}/schema", async (request) =>
    JSON.parse((await versionOf(registry, request)).schema),
  ),
  row(
    "registerSchema",
    "/subjects/{subject}/versions",
    async (request) => {
      const { path, caller } = request;
      const { subject = "" } = path;
      const { id, version } = await registry.register(subject, textOf(request), caller.actor);
      return { id, version };
    },
    { ...writing, closedToNew: true },
  ),
  row(
    "lookUpSchema",
    "/subjects/{subject}",
    async (request) => shown(await registry.lookUp(request.path.subject ?? "", textOf(request))),
    writing,
  ),
  row(
    "checkSchema",
    "/compatibility/subjects/{subject}/versions/{version}",
    (request) => judged(registry, request),
    writing,
  ),
  row(
    "checkSchemaBesideAll",
    "/compatibility/subjects/{subject}/versions",
    (request) => judged(registry, request),
    writing,
  ),
];

const shown = (found: RegisteredSchema): object => ({ ...found, schemaType: "AVRO" });

/** An id that is no number is of no schema. */
const idOf = ({ path }: ApiRequest): number =>
  /^\d{1,10}$/.test(path.id ?? "") ? Number(path.id) : Number.NaN;

async function subjectsLike(
  registry: SchemaRegistry,
  { subjectPrefix }: ApiRequest["parameters"],
): Promise<readonly string[]> {
  const prefix = String(subjectPrefix ?? "");
  return (await registry.subjects()).filter((name) => name.startsWith(prefix));
}

const usesOf = (registry: SchemaRegistry, request: ApiRequest) => registry.usesOf(idOf(request));

const schemaOf = (registry: SchemaRegistry, request: ApiRequest) => registry.schema(idOf(request));

const versionOf = (registry: SchemaRegistry, { path }: ApiRequest): Promise<RegisteredSchema> =>
  registry.version(path.subject ?? "", path.version ?? "");

const textOf = ({ body }: ApiRequest): string => (body as { readonly schema: string }).schema;

async function judged(registry: SchemaRegistry, request: ApiRequest): Promise<object> {
  const { subject: of = "", version: at } = request.path;
  const messages = await registry.check(of, textOf(request), at);
  return { is_compatible: messages.length === 0, messages };
}
