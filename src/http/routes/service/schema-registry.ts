/**
 * /schema-registry/api: the part of a schema registry's interface that its clients use. Reads are
 * open: schemas say nothing of what is in the catalog, and producers and consumers of topics often
 * have no token for this service. Registering what is not there yet is judged by the registry.
 */
import type { RegisteredSchema, SchemaRegistry } from "../../../feed/schema-registry.ts";
import { appendAll } from "../../../lib/lists.ts";
import { REGISTRY } from "../../response/schema-registry-format.ts";
import {
  type ApiRequest,
  complete,
  type Endpoint,
  type ErrorCase,
  objectWith,
  type Parameter,
  type Schema,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import { closed, registrySettings, registryRow as row, subject } from "./registry-settings.ts";

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

const versioned: Schema = objectWith(["subject", "version", "id", "schema"], {
  subject: { type: "string" },
  version: { type: "integer" },
  id: { type: "integer", description: "Id of the schema, which messages contain" },
  schema: { type: "string", description: "The schema as JSON text" },
  schemaType: { type: "string" },
});
const integers: Schema = { type: "array", items: { type: "integer" } };
const strings: Schema = { type: "array", items: { type: "string" } };
const judgement: Schema = complete({ is_compatible: { type: "boolean" }, messages: strings });

const schemaBody = {
  type: "object",
  required: ["schema"],
  properties: {
    schema: { type: "string", description: "An Avro schema as JSON text" },
    schemaType: { enum: ["AVRO", null], description: "AVRO, which is the default" },
    references: {
      type: ["array", "null"],
      maxItems: 0,
      description: "Always empty: schemas have no references",
    },
  },
} as const;

const missing: ErrorCase = {
  code: "not_found",
  when: "there is no such subject (40401), version (40402) or schema (40403)",
};
const noSchema: ErrorCase = { code: "malformed", when: "the body has no schema" };
const badSchema: ErrorCase = { code: "invalid", when: "the schema is not an Avro schema (42201)" };
const ofSubject = `${REGISTRY}/subjects/{subject}`;

export function schemaRegistryRoutes({ registry }: SchemaRegistryOptions): readonly Endpoint[] {
  return [
    row(
      {
        name: "getRegistry",
        path: REGISTRY,
        summary: "Check whether there is a registry",
        response: { type: "object" },
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
      summary: "List all versions of all subjects",
      parameters: [
        prefixed,
        query.boolean("latestOnly", "Only the latest version of each subject"),
      ],
      response: { type: "array", items: versioned },
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
      summary: "List the types of schemas",
      response: strings,
    },
    () => ["AVRO"],
  ),
  row(
    {
      name: "getSchema",
      path: `${REGISTRY}/schemas/ids/{id}`,
      summary: "Read a schema by its id",
      about: "An id belongs to one schema for ever.",
      parameters: [id],
      response: { type: "object", required: ["schema"], properties: versioned.properties },
      errors: [missing],
    },
    async (request) => ({ schema: await schemaOf(registry, request), schemaType: "AVRO" }),
  ),
  row(
    {
      name: "getSchemaText",
      path: `${REGISTRY}/schemas/ids/{id}/schema`,
      summary: "Read the text of a schema by its id",
      parameters: [id],
      response: { type: "object" },
      errors: [missing],
    },
    async (request) => JSON.parse(await schemaOf(registry, request)),
  ),
  row(
    {
      name: "getSubjectsOfSchema",
      path: `${REGISTRY}/schemas/ids/{id}/subjects`,
      summary: "List the subjects of a schema",
      parameters: [id],
      response: strings,
      errors: [missing],
    },
    async (request) => [...new Set((await usesOf(registry, request)).map((use) => use.subject))],
  ),
  row(
    {
      name: "getVersionsOfSchema",
      path: `${REGISTRY}/schemas/ids/{id}/versions`,
      summary: "List the subjects and versions of a schema",
      parameters: [id],
      response: { type: "array", items: { type: "object" } },
      errors: [missing],
    },
    (request) => usesOf(registry, request),
  ),
];

const subjectRows = (registry: SchemaRegistry): readonly Endpoint[] => [
  row(
    {
      name: "getSubjects",
      path: `${REGISTRY}/subjects`,
      summary: "List the subjects",
      parameters: [prefixed],
      response: strings,
    },
    ({ parameters }) => subjectsLike(registry, parameters),
  ),
  row(
    {
      name: "getVersions",
      path: `${ofSubject}/versions`,
      summary: "List the versions of a subject",
      parameters: [subject],
      response: integers,
      errors: [missing],
    },
    async ({ path }) => (await registry.versions(path.subject ?? "")).map((one) => one.version),
  ),
  row(
    {
      name: "getVersion",
      path: `${ofSubject}/versions/{version}`,
      summary: "One of them",
      parameters: [subject, version],
      response: versioned,
      errors: [missing, { code: "invalid", when: "the version is not valid (42202)" }],
    },
    async (request) => shown(await versionOf(registry, request)),
  ),
  row(
    {
      name: "getVersionText",
      path: `${ofSubject}/versions/{version}/schema`,
      summary: "Read the text of a version's schema",
      parameters: [subject, version],
      response: { type: "object" },
      errors: [missing],
    },
    async (request) => JSON.parse((await versionOf(registry, request)).schema),
  ),
  row(
    {
      method: "POST",
      name: "registerSchema",
      path: `${ofSubject}/versions`,
      closedToNew: true,
      summary: "Register a schema under a subject",
      about:
        "A schema that the subject already has is returned without a token. A new one becomes the next version, if it is compatible and the user has the privilege Manage Schema Registry; the same schema has the same id under every subject. Subjects of the service's own topics accept only schemas that are compatible in both directions with the service's own (FULL_TRANSITIVE).",
      parameters: [subject],
      body: schemaBody,
      response: { type: "object", required: ["id"], properties: versioned.properties },
      errors: [
        noSchema,
        badSchema,
        { code: "conflict", when: "the level of the subject does not allow it (409)" },
        ...closed,
        { code: "too_large", when: "the body, or all schemas together, have too many bytes" },
      ],
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
      summary: "Look up the version of a schema in a subject",
      parameters: [subject],
      body: schemaBody,
      response: versioned,
      errors: [noSchema, missing, badSchema],
    },
    async (request) => shown(await registry.lookUp(request.path.subject ?? "", textOf(request))),
  ),
  row(
    {
      method: "POST",
      name: "checkSchema",
      path: `${REGISTRY}/compatibility/subjects/{subject}/versions/{version}`,
      summary: "Check whether a schema is compatible with a version of a subject",
      parameters: [subject, version],
      body: schemaBody,
      response: judgement,
      errors: [noSchema, missing, badSchema],
    },
    (request) => judged(registry, request),
  ),
  row(
    {
      method: "POST",
      name: "checkSchemaBesideAll",
      path: `${REGISTRY}/compatibility/subjects/{subject}/versions`,
      summary: "Check whether a schema is compatible with a subject",
      parameters: [subject],
      body: schemaBody,
      response: judgement,
      errors: [noSchema, badSchema],
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
