/**
 * The route table as an OpenAPI 3.1 document. Each action of rest.li is an operation of its own, under a path with
 * its query (`/entities?action=search`); its body and its response are components, so that generated
 * clients have a type with a name for each.
 */

import { errorFormOf, statusesOf, statusOf } from "../response/errors.ts";
import { REGISTRY_MEDIA_TYPE } from "../response/schema-registry-format.ts";
import { type RouteTable, resourceOf } from "../route-table.ts";
import type { Endpoint, Parameter, Schema } from "../schemas/endpoint.ts";
import { namedSchemas as plainSchemas } from "../schemas/schemas.ts";
import { searchFlags } from "../schemas/search-schemas.ts";
import type { EntityOutline } from "./docs-model.ts";
import {
  type EndpointDocs,
  type ErrorCase,
  readEndpointDocs,
  responseSchemas,
} from "./endpoint-docs.ts";
import parts from "./openapi-parts.json" with { type: "json" };

const namedSchemas = new Map([...plainSchemas, [searchFlags, "SearchFlags"]]);

export function openApiDocument(
  table: RouteTable,
  { version, entities }: { version: string; entities: readonly EntityOutline[] },
): Schema {
  const components: Record<string, Schema> = {};
  for (const [schema, name] of namedSchemas) components[name] = withReferences(schema, true);
  Object.assign(components, responseSchemas());

  const docsOf = readEndpointDocs();
  const paths: Record<string, Record<string, Schema>> = {};
  for (const endpoint of table.endpoints) {
    const { kind, name, method } = endpoint;
    const key = kind === "action" ? `${endpoint.path}?action=${name}` : endpoint.path;
    const path = paths[key] ?? {};
    path[method.toLowerCase()] = operationOf(endpoint, docsOf(endpoint), components);
    paths[key] = path;
  }

  const { info, tags, components: fixed, ...rest } = parts.document;
  return {
    ...rest,
    info: { ...info, version },
    tags: [...table.resources.map(({ name, about }) => ({ name, description: about })), ...tags],
    paths,
    components: { schemas: components, ...fixed },
    // Which aspects there are, by entity type: an extension, since paths and schemas cannot say it.
    "x-entities": Object.fromEntries(
      entities.map(({ name, key, aspects }) => [
        name,
        { key, aspects: aspects.map((aspect) => aspect.name) },
      ]),
    ),
  };
}

function operationOf(
  endpoint: Endpoint,
  docs: EndpointDocs,
  components: Record<string, Schema>,
): Schema {
  const { body, reads, parameters = [] } = endpoint;
  const { example } = docs;
  const { response, content } = responseOf(endpoint, docs, components);
  return {
    operationId: operationIdOf(endpoint),
    summary: docs.summary,
    ...descriptionOf(docs),
    tags: [endpoint.kind === "page" ? (endpoint.group ?? "service") : resourceOf(endpoint)],
    ...securityOf(endpoint),
    parameters: [
      ...parameters.map(parameterOf),
      ...(endpoint.kind === "action" ? [parts.idempotencyKey] : []),
      ...(body === undefined ? [] : [{ ...parts.actingUser, ...shown(example.actor) }]),
      ...(reads === undefined ? [] : [parts.minPosition]),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: namedBody(endpoint, body, components),
            ...shown(example.body),
          },
        },
      },
    }),
    responses: {
      [endpoint.status ?? 200]: response,
      ...(parameters.some(({ name }) => name === "async") && {
        202: {
          description: "The same with `async=true`; a list of patches has no body then.",
          ...content,
        },
      }),
      ...errorResponses(endpoint, docs),
    },
  };
}

/** Unique in the document: two resources may have an action of the same name. */
const operationIdOf = (endpoint: Endpoint): string =>
  endpoint.kind === "action"
    ? `${resourceOf(endpoint)}${capitalised(endpoint.name)}`
    : endpoint.name;

function namedBody(endpoint: Endpoint, body: Schema, components: Record<string, Schema>): Schema {
  if (endpoint.kind !== "action") return withReferences(body);
  return component(capitalised(operationIdOf(endpoint)), withReferences(body), components);
}

/** Adds the schema under the name; returns a reference to it. */
function component(name: string, schema: Schema, components: Record<string, Schema>): Schema {
  components[name] = schema;
  return referenceTo(name);
}

const referenceTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

interface Described {
  readonly response: Schema;
  /** The content of the response; absent if its body is empty. */
  readonly content: Schema | false;
}

function responseOf(
  endpoint: Endpoint,
  { response, example }: EndpointDocs,
  components: Record<string, Schema>,
): Described {
  const { kind, responseType = "application/json", reads, writes } = endpoint;
  const headers = {
    ...((reads !== undefined || writes === true || kind === "action") && parts.positionHeader),
    ...(reads !== undefined && parts.staleHeader),
  };
  const name = `${capitalised(operationIdOf(endpoint))}Reply`;
  const content = response !== undefined && {
    content: {
      [responseType]: {
        schema: kind === "action" ? component(name, response, components) : response,
        ...shown(example.response),
      },
    },
  };
  const described = {
    description: response === undefined ? "Done; the response has no body." : "Done.",
    ...(Object.keys(headers).length > 0 && { headers }),
    ...content,
  };
  return { response: described, content };
}

function descriptionOf({ deprecated, about }: EndpointDocs): Schema {
  const sentences = [deprecated && `Deprecated. ${deprecated}`, about].filter(Boolean);
  return {
    ...(sentences.length > 0 && { description: sentences.join(" ") }),
    ...(deprecated !== undefined && { deprecated: true }),
  };
}

/** Empty for an operation that the rule of the whole document holds for. */
function securityOf({ access, open }: Endpoint): Schema {
  if (access === "system") return { security: [{ systemClient: [] }] };
  if (access === "operator") return { security: [{ operator: [] }] };
  return open === true ? { security: [] } : {};
}

const shown = (example: unknown): Schema => (example === undefined ? {} : { example });

const parameterTypes: Readonly<Record<Parameter["type"], Schema>> = {
  string: { type: "string" },
  long: { type: "integer", format: "int64" },
  boolean: { type: "boolean" },
  strings: { type: "string", description: "A list: `List(a,b)`" },
};

function parameterOf(parameter: Parameter): Schema {
  return {
    name: parameter.name,
    in: parameter.in,
    required: parameter.in === "path" || parameter.required === true,
    description: parameter.about,
    schema: {
      ...parameterTypes[parameter.type],
      ...(parameter.values !== undefined && { enum: parameter.values }),
    },
  };
}

/** One response for each status that the endpoint may fail with, with all its reasons. */
function errorResponses(endpoint: Endpoint, docs: EndpointDocs): Record<string, Schema> {
  const reasons = new Map<number, Set<string>>();
  for (const { code, when } of [...docs.errors, ...errorsOfAll(endpoint)]) {
    for (const status of statusesOf(code, errorFormOf(endpoint))) {
      reasons.set(status, (reasons.get(status) ?? new Set()).add(`\`${code}\`: ${when}`));
    }
  }
  const content =
    endpoint.errorForm === "registry"
      ? { [REGISTRY_MEDIA_TYPE]: { schema: referenceTo("RegistryError") } }
      : { "application/json": { schema: referenceTo("Error") } };
  return Object.fromEntries(
    [...reasons].map(([status, all]) => [
      status,
      {
        description: [...all].join("\n\n"),
        ...(endpoint.reads !== undefined &&
          status === statusOf.not_found && { headers: parts.positionHeader }),
        content,
      },
    ]),
  );
}

/** Errors of every request. */
const errorsOfAll = ({ open }: Endpoint): readonly ErrorCase[] => [
  ...(open === true
    ? []
    : [{ code: "unauthenticated", when: "a token is required and absent, or not valid" } as const]),
  {
    code: "forbidden",
    when: "a web page of another origin sends the request without a token (`--cors-origin`)",
  },
  { code: "rate_limited", when: "more requests arrive than `--requests-per-second-max` allows" },
];

/** The schema with every record that has a name replaced by a reference; itself only if nested. */
function withReferences(schema: Schema, itself = false): Schema {
  const name = itself ? undefined : namedSchemas.get(schema);
  if (name !== undefined) return referenceTo(name);
  return Object.fromEntries(
    Object.entries(withOpenMembers(schema)).map(([key, value]) => [key, replaced(value)]),
  );
}

/**
 * An object with named members (`urn`) and members of any other name (aspects), as types of programming languages
 * can express it: the type of the others includes those of the named ones, and is open if one of those is optional.
 */
function withOpenMembers(schema: Schema): Schema {
  const { properties, additionalProperties: others, required } = schema;
  if (properties === undefined || typeof others !== "object" || others === null) return schema;
  const named = Object.entries(properties as Readonly<Record<string, Schema>>);
  if (named.length === 0) return schema;
  const always = (required ?? []) as readonly string[];
  const closed = named.every(([name]) => always.includes(name));
  const members = named.map(([, member]) => member);
  return { ...schema, additionalProperties: closed ? { anyOf: [others, ...members] } : true };
}

function replaced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaced);
  return typeof value === "object" && value !== null ? withReferences(value as Schema) : value;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
