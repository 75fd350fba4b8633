/**
 * /schema-registry/api: the part of a schema registry's interface that its clients use. Reads are
 * open: schemas say nothing of what is in the catalog, and producers and consumers of topics often
 * have no token for this service. Registering what is not there yet is judged by the registry.
 */
import type { RegisteredSchema, SchemaRegistry } from "../../../feed/schema-registry.ts";
import { appendAll } from "../../../lib/lists.ts";
import { REGISTRY } from "../../response/schema-registry-format.ts";
import { type ApiRequest, type Endpoint, type Parameter, text } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import { registrySettings, registryRow as row, subject } from "./registry-settings.ts";

export interface SchemaRegistryOptions {
  readonly registry: SchemaRegistry;
}

const version: Parameter = {
  name: "version",
  in: "path",
  type: "string",
  about: "Version number from 1, or `latest`",
};
const prefixed: Parameter = query.string("subjectPrefix", "Only subjects with this prefix");
const id: Parameter = { name: "id", in: "path", type: "string", about: "Id of a schema" };

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

const ofSubject = `${REGISTRY}/subjects/{subject}`;

export function schemaRegistryRoutes({ registry }: SchemaRegistryOptions): readonly Endpoint[] {
  return [
    row(
      {
        name: "getRegistry",
        path: REGISTRY,
      },
      () => ({}),
    ),
    ...schemaRows(registry),
    ...subjectRows(registry),
    ...registrySettings(registry),
  ];
}

const schemaRows = (registry: SchemaRegistry): readonly Endpoint[] => [
  row(
    {
      name: "getSchemas",
      path: `${REGISTRY}/schemas`,
      parameters: [
        prefixed,
        query.boolean("latestOnly", "Only the latest version of each subject"),
      ],
    },
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
  ),
  row(
    {
      name: "getSchemaTypes",
      path: `${REGISTRY}/schemas/types`,
    },
    () => ["AVRO"],
  ),
  row(
    {
      name: "getSchema",
      path: `${REGISTRY}/schemas/ids/{id}`,
      parameters: [id],
    },
    async (request) => ({ schema: await schemaOf(registry, request), schemaType: "AVRO" }),
  ),
  row(
    {
      name: "getSchemaText",
      path: `${REGISTRY}/schemas/ids/{id}/schema`,
      parameters: [id],
    },
    async (request) => JSON.parse(await schemaOf(registry, request)),
  ),
  row(
    {
      name: "getSubjectsOfSchema",
      path: `${REGISTRY}/schemas/ids/{id}/subjects`,
      parameters: [id],
    },
    async (request) => [...new Set((await usesOf(registry, request)).map((use) => use.subject))],
  ),
  row(
    {
      name: "getVersionsOfSchema",
      path: `${REGISTRY}/schemas/ids/{id}/versions`,
      parameters: [id],
    },
    (request) => usesOf(registry, request),
  ),
];

const subjectRows = (registry: SchemaRegistry): readonly Endpoint[] => [
  row(
    {
      name: "getSubjects",
      path: `${REGISTRY}/subjects`,
      parameters: [prefixed],
    },
    ({ parameters }) => subjectsLike(registry, parameters),
  ),
  row(
    {
      name: "getVersions",
      path: `${ofSubject}/versions`,
      parameters: [subject],
    },
    async ({ path }) => (await registry.versions(path.subject ?? "")).map((one) => one.version),
  ),
  row(
    {
      name: "getVersion",
      path: `${ofSubject}/versions/{version}`,
      parameters: [subject, version],
    },
    async (request) => shown(await versionOf(registry, request)),
  ),
  row(
    {
      name: "getVersionText",
      path: `${ofSubject}/versions/{version}/schema`,
      parameters: [subject, version],
    },
    async (request) => JSON.parse((await versionOf(registry, request)).schema),
  ),
  row(
    {
      method: "POST",
      name: "registerSchema",
      path: `${ofSubject}/versions`,
      closedToNew: true,
      parameters: [subject],
      body: schemaBody,
    },
    async (request) => {
      const found = await registry.register(
        request.path.subject ?? "",
        textOf(request),
        request.caller.actor,
      );
      return { id: found.id, version: found.version };
    },
  ),
  row(
    {
      method: "POST",
      name: "lookUpSchema",
      path: ofSubject,
      parameters: [subject],
      body: schemaBody,
    },
    async (request) => shown(await registry.lookUp(request.path.subject ?? "", textOf(request))),
  ),
  row(
    {
      method: "POST",
      name: "checkSchema",
      path: `${REGISTRY}/compatibility/subjects/{subject}/versions/{version}`,
      parameters: [subject, version],
      body: schemaBody,
    },
    (request) => judged(registry, request),
  ),
  row(
    {
      method: "POST",
      name: "checkSchemaBesideAll",
      path: `${REGISTRY}/compatibility/subjects/{subject}/versions`,
      parameters: [subject],
      body: schemaBody,
    },
    (request) => judged(registry, request),
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
