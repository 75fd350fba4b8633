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

/** A row that answers with the JSON of what its handler gives. */
export const registryRow = (
  row: Pick<Endpoint, "name" | "path"> & Partial<Endpoint>,
  handle: (request: ApiRequest) => Promise<unknown> | unknown,
): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "schema registry",
  errorForm: "registry",
  open: true,
  responseType: REGISTRY_MEDIA_TYPE,
  ...(row.body !== undefined && { bodyBytesMax }),
  ...row,
  handle: async (request): Promise<ApiResponse> => ({
    text: JSON.stringify(await handle(request)),
  }),
});

export const subject: Parameter = {
  name: "subject",
  in: "path",
  type: "string",
  about: "Name of the subject, such as `<topic>-value`",
};

const levelBody = {
  type: "object",
  required: ["compatibility"],
  properties: {
    compatibility: text("NONE, or BACKWARD, FORWARD, FULL, each of them also with _TRANSITIVE"),
  },
} as const;

export const registrySettings = (registry: SchemaRegistry): readonly Endpoint[] => [
  ...[undefined, subject].flatMap((parameter) => {
    const at = (place: string) => `${REGISTRY}/${place}${parameter ? "/{subject}" : ""}`;
    const of = parameter ? "OfSubject" : "";
    const parameters = parameter && [parameter];
    return [
      registryRow(
        {
          name: `getCompatibility${of}`,
          path: at("config"),
          parameters,
        },
        async ({ path }) => ({ compatibilityLevel: await registry.compatibility(path.subject) }),
      ),
      registryRow(
        {
          method: "PUT",
          name: `setCompatibility${of}`,
          path: at("config"),
          parameters,
          open: false,
          body: levelBody,
        },
        async ({ path, body, caller }) => {
          const { compatibility } = body as { readonly compatibility: string };
          return {
            compatibility: await registry.setCompatibility(
              path.subject,
              compatibility,
              caller.actor,
            ),
          };
        },
      ),
      registryRow(
        {
          name: `getMode${of}`,
          path: at("mode"),
          parameters,
        },
        () => ({ mode: "READWRITE" }),
      ),
    ];
  }),
  registryRow(
    {
      name: "getAssociations",
      path: `${REGISTRY}/associations/resources/{namespace}/{name}`,
      parameters: [
        { name: "namespace", in: "path", type: "string", about: "Name of the cluster" },
        { name: "name", in: "path", type: "string", about: "Name of the topic" },
      ],
    },
    () => [],
  ),
];
