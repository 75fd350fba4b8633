/** /schema-registry/api: levels of compatibility, and what clients ask beside schemas and subjects. */
import type { SchemaRegistry } from "../../../feed/schema-registry.ts";
import { REGISTRY, REGISTRY_MEDIA_TYPE } from "../../response/schema-registry-format.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  type Parameter,
  text,
} from "../../schemas/endpoint.ts";

/** A schema is at most a part of it: in JSON text in JSON it grows. */
const bodyBytesMax = 2 ** 20;

/** Texts of the `{names}` in the paths. */
const pathTexts = new Map([
  ["subject", "Name of the subject, such as `<topic>-value`"],
  ["version", "Version number from 1, or `latest`"],
  ["id", "Id of a schema"],
  ["namespace", "Name of the cluster"],
  ["name", "Name of the topic"],
]);

const parametersIn = (path: string): readonly Parameter[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
    ...{ name, in: "path", type: "string", about: pathTexts.get(name) ?? "" },
  }));

/** A row that answers with the JSON of what its handler gives; `path` is below that of the registry. */
export const registryRow = (
  name: string,
  path: string,
  handle: (request: ApiRequest) => Promise<unknown> | unknown,
  { parameters = [], ...more }: Partial<Endpoint> = {},
): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "schema registry",
  errorForm: "registry",
  open: true,
  responseType: REGISTRY_MEDIA_TYPE,
  ...(more.body !== undefined && { bodyBytesMax }),
  name,
  path: `${REGISTRY}${path}`,
  parameters: [...parametersIn(path), ...parameters],
  ...more,
  handle: async (request): Promise<ApiResponse> => ({
    text: JSON.stringify(await handle(request)),
  }),
});

const levelBody = {
  type: "object",
  required: ["compatibility"],
  properties: {
    compatibility: text("NONE, or BACKWARD, FORWARD, FULL, each of them also with _TRANSITIVE"),
  },
} as const;

async function setLevel(registry: SchemaRegistry, { path, body, caller }: ApiRequest) {
  const { compatibility } = body as { readonly compatibility: string };
  return {
    compatibility: await registry.setCompatibility(path.subject, compatibility, caller.actor),
  };
}

/** Of all subjects, or of one. */
const levelRows = (registry: SchemaRegistry, of: string, below: string): readonly Endpoint[] => [
  registryRow(`getCompatibility${of}`, `/config${below}`, async ({ path }) => ({
    compatibilityLevel: await registry.compatibility(path.subject),
  })),
  registryRow(
    `setCompatibility${of}`,
    `/config${below}`,
    (request) => setLevel(registry, request),
    { method: "PUT", open: false, body: levelBody },
  ),
  registryRow(`getMode${of}`, `/mode${below}`, () => ({ mode: "READWRITE" })),
];

export const registrySettings = (registry: SchemaRegistry): readonly Endpoint[] => [
  ...levelRows(registry, "", ""),
  ...levelRows(registry, "OfSubject", "/{subject}"),
  registryRow("getAssociations", "/associations/resources/{namespace}/{name}", () => []),
];
