/**
 * The route table as an OpenAPI 3.1 document. All actions of a path are one POST there, told apart
 * by the query parameter `action`; each action's body and reply is a component of its own.
 */
import type { EntityOutline } from "./docs-model.ts";
import type { Endpoint, Parameter, Resource, Schema } from "./endpoint.ts";
import { errorFormOf, statusesOf, statusOf } from "./errors.ts";
import { momentParameters, takesMoment } from "./moments.ts";
import { REGISTRY_MEDIA_TYPE, registryErrorReply } from "./registry-form.ts";
import { type RouteTable, resourceOf } from "./route-table.ts";
import { errorReply, namedSchemas as plainSchemas } from "./schemas.ts";
import { namedSearchSchemas } from "./search-schemas.ts";

const namedSchemas = new Map([
  ...plainSchemas,
  ...namedSearchSchemas,
  [registryErrorReply, "RegistryError"],
]);

export function openApiDocument(
  table: RouteTable,
  { version, entities }: { version: string; entities: readonly EntityOutline[] },
): Schema {
  const components: Record<string, Schema> = {};
  for (const [schema, name] of namedSchemas) components[name] = withReferences(schema, true);

  const paths: Record<string, Record<string, Schema>> = {};
  for (const endpoint of table.endpoints.filter(({ kind }) => kind !== "action")) {
    const path = paths[endpoint.path] ?? {};
    path[endpoint.method.toLowerCase()] = readOperation(endpoint);
    paths[endpoint.path] = path;
  }
  for (const resource of table.resources) {
    const actions = table.endpoints.filter(
      (endpoint) => endpoint.kind === "action" && resourceOf(endpoint) === resource.name,
    );
    if (actions.length === 0) continue;
    const path = paths[`/${resource.name}`] ?? {};
    path.post = actionsOperation(resource, actions, components);
    paths[`/${resource.name}`] = path;
  }

  return {
    openapi: "3.1.0",
    info: {
      title: "Annals",
      version,
      description:
        "A metadata catalog on an event log. Every path is also served under /gms and /api/gms. The APIs are subject to change.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [
      ...table.resources.map(({ name, about }) => ({ name, description: about })),
      { name: "changes", description: "What happens, as it happens." },
      { name: "schema registry", description: "What producers and consumers of events ask." },
      {
        name: "OpenAPI",
        description: "The catalog for clients that speak the reference's OpenAPI.",
      },
      { name: "service", description: "The service itself." },
    ],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        [OPERATOR]: {
          type: "http",
          scheme: "bearer",
          description:
            "The operator's token: the file `operator.token` in the data directory of the service, made at its first start.",
        },
      },
    },
    // Which aspects there are, by entity type: an extension, since paths and schemas cannot say it.
    "x-entities": Object.fromEntries(
      entities.map(({ name, key, aspects }) => [
        name,
        { key, aspects: aspects.map((aspect) => aspect.name) },
      ]),
    ),
  };
}

function readOperation(endpoint: Endpoint): Schema {
  const replyType = endpoint.replyType ?? "application/json";
  const content = endpoint.reply !== undefined && {
    content: {
      [replyType]: { schema: withReferences(endpoint.reply), example: endpoint.example.reply },
    },
  };
  const asynchronous = endpoint.parameters?.some(({ name }) => name === "async");
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    ...descriptionOf(endpoint),
    tags: [endpoint.kind === "page" ? (endpoint.group ?? "service") : resourceOf(endpoint)],
    ...securityOf([endpoint]),
    parameters: [
      ...(endpoint.parameters ?? []).map(parameterOf),
      ...(endpoint.body === undefined
        ? []
        : [{ ...actingUser, ...exampleOf(endpoint.example.actor) }]),
      ...(endpoint.reads === undefined ? [] : [minPosition]),
    ],
    ...(endpoint.body !== undefined && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: withReferences(endpoint.body),
            ...exampleOf(endpoint.example.body),
          },
        },
      },
    }),
    responses: {
      [endpoint.status ?? 200]: { description: "Done.", ...content },
      ...(asynchronous && {
        202: {
          description: "The same with `async=true`; a list of patches has no body then.",
          ...content,
        },
      }),
      ...errorResponses([endpoint]),
    },
  };
}

const deprecation = ({ deprecated }: Endpoint): string | undefined =>
  deprecated && `Deprecated. ${deprecated}`;

function descriptionOf(endpoint: Endpoint): Schema {
  const sentences = [deprecation(endpoint), endpoint.about].filter(Boolean);
  return {
    ...(sentences.length > 0 && { description: sentences.join(" ") }),
    ...(endpoint.deprecated !== undefined && { deprecated: true }),
  };
}

function actionsOperation(
  resource: Resource,
  actions: readonly Endpoint[],
  components: Record<string, Schema>,
): Schema {
  const bodies: Schema[] = [];
  const replies: Schema[] = [];
  for (const action of actions) {
    const name = `${capitalised(resource.name)}${capitalised(action.name)}`;
    components[name] = {
      title: action.name,
      description: [action.summary, action.about, deprecation(action)].filter(Boolean).join(". "),
      ...(action.deprecated !== undefined && { deprecated: true }),
      ...withReferences(action.body ?? { type: "object" }),
    };
    bodies.push({ $ref: `#/components/schemas/${name}` });
    if (action.reply === undefined) continue;
    components[`${name}Reply`] = { title: action.name, ...withReferences(action.reply) };
    replies.push({ $ref: `#/components/schemas/${name}Reply` });
  }
  const examples = (of: (action: Endpoint) => unknown): Schema =>
    Object.fromEntries(
      actions
        .filter((action) => of(action) !== undefined)
        .map((action) => [action.name, { summary: action.summary, value: of(action) }]),
    );
  return {
    operationId: `${resource.name}Action`,
    summary: resource.about,
    description: actions
      .map((one) => `- \`${one.name}\`${one.deprecated ? " (deprecated)" : ""}: ${one.summary}`)
      .join("\n"),
    tags: [resource.name],
    ...securityOf(actions),
    parameters: [
      {
        name: "action",
        in: "query",
        required: true,
        description: "Which of them; the body is the one of the same title.",
        schema: { type: "string", enum: actions.map(({ name }) => name) },
      },
      ...writeHeaders,
      ...(actions.some(({ reads }) => reads !== undefined) ? [minPosition] : []),
      ...(actions.some(takesMoment) ? momentParameters.map(parameterOf) : []),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          // Not oneOf: what fits one action may fit others, whose parameters are fewer.
          schema: { anyOf: bodies },
          examples: examples(({ example }) => example.body),
        },
      },
    },
    responses: {
      200: {
        description: "Done. Actions without a result answer with an empty body.",
        headers: {
          ...positionHeader,
          ...(actions.some(({ reads }) => reads !== undefined) && staleHeader),
        },
        content: {
          "application/json": {
            schema: { anyOf: replies },
            examples: examples(({ example }) => example.reply),
          },
        },
      },
      ...errorResponses(actions),
    },
  };
}

const positionHeader: Schema = {
  "X-Annals-Position": {
    description:
      "Of a write: the position at which the log holds it. Of a read: every record up to there is shown",
    schema: { type: "integer" },
  },
};

const staleHeader: Schema = {
  "X-Annals-Stale": {
    description:
      "Of a read: which of what it reads another model made, until that is rebuilt, and the command that does it",
    schema: { type: "string" },
  },
};

const OPERATOR = "operator";

/** One operation has one rule: the actions of a path must agree. */
function securityOf(endpoints: readonly Endpoint[]): Schema {
  if (endpoints.every(({ access }) => access === "operator"))
    return { security: [{ [OPERATOR]: [] }] };
  return endpoints.every(({ open }) => open === true) ? { security: [] } : {};
}

const actingUser: Schema = {
  name: "X-DataHub-Actor",
  in: "header",
  description: "Urn of the acting user; believed on loopback alone. Also as X-Service-Actor.",
  schema: { type: "string" },
};

const exampleOf = (example: unknown): Schema => (example === undefined ? {} : { example });

const writeHeaders: readonly Schema[] = [
  {
    name: "Idempotency-Key",
    in: "header",
    description: "Any short text that is new for every new write: a retry with it happens once.",
    schema: { type: "string", maxLength: 255 },
  },
  actingUser,
];

const minPosition: Schema = {
  name: "X-Annals-Min-Position",
  in: "header",
  description:
    "Of a read: the X-Annals-Position of a write that the answer has to show; it waits for that, and answers 503 when it takes too long.",
  schema: { type: "integer" },
};

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

/** One response for each status that any of the endpoints may end in, with all its reasons. */
function errorResponses(endpoints: readonly Endpoint[]): Record<string, Schema> {
  const some = endpoints.some(({ reads }) => reads !== undefined);
  const reasons = new Map<number, Set<string>>();
  for (const endpoint of endpoints) {
    for (const { code, when } of endpoint.errors) {
      for (const status of statusesOf(code, errorFormOf(endpoint))) {
        reasons.set(status, (reasons.get(status) ?? new Set()).add(`\`${code}\`: ${when}`));
      }
    }
  }
  const ofRegistry = endpoints.every(({ errorForm }) => errorForm === "registry");
  const content = ofRegistry
    ? { [REGISTRY_MEDIA_TYPE]: { schema: replaced(registryErrorReply) } }
    : { "application/json": { schema: replaced(errorReply) } };
  return Object.fromEntries(
    [...reasons].map(([status, all]) => [
      status,
      {
        description: [...all].join("\n\n"),
        ...(some && status === statusOf.not_found && { headers: positionHeader }),
        content,
      },
    ]),
  );
}

/** The schema with every record that has a name replaced by a reference; itself only if nested. */
function withReferences(schema: Schema, itself = false): Schema {
  const name = itself ? undefined : namedSchemas.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, replaced(value)]));
}

function replaced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaced);
  return typeof value === "object" && value !== null ? withReferences(value as Schema) : value;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
