/** OpenAPI endpoints: the older forms that scripts and the Java emitter still send. */
import { HAS_TYPE_NAMES, type Proposal, REQUEST_PATH } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import { eachOf, openSystemMetadata } from "../../request/body/system-metadata.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  objectWith,
} from "../../schemas/endpoint.ts";
import { aspectText, entitiesText, type ModelNames } from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";
import { findMembers, type Member } from "./openapi-entities.ts";
import { write } from "./openapi-writes.ts";

const row = { kind: "page", group: "OpenAPI" } as const;

/** 201 when something was written, otherwise 200, as clients of these endpoints expect. */
const writtenUrns = ({ changed, ...response }: Awaited<ReturnType<typeof write>>): ApiResponse => ({
  ...response,
  json: JSON.stringify(changed),
  ...(changed.length === 0 && { status: 200 }),
});

const batchV2 = (names: ModelNames): Endpoint => ({
  ...row,
  method: "POST",
  path: "/openapi/v2/entity/batch/{entity}",
  name: "batchGetByNames",
  parameters: [forms.entity, ...asOfParameters],
  body: objectWith(["urns"], {
    urns: { type: "array", maxItems: 10_000, items: { type: "string" } },
    aspectNames: {
      type: ["array", "null"],
      items: { type: "string" },
      description: "All when absent or none",
    },
    withSystemMetadata: { type: ["boolean", "null"] },
  }),
  reads: "entities",
  async handle({ path, body }, { catalog }) {
    const { urns, aspectNames, withSystemMetadata } = body as {
      urns: readonly string[];
      aspectNames?: readonly string[] | null;
      withSystemMetadata?: boolean | null;
    };
    const named = Object.fromEntries((aspectNames ?? []).map((name) => [name, {}]));
    const members = urns.map((urn): Member => ({ ...named, urn }));
    const entityType = names.known(path.entity ?? "", "not_found");
    const found = await findMembers(members, { entityType, names, catalog });
    const shown = { version: "v2", systemMetadata: withSystemMetadata === true } as const;
    return { json: `{"entities":${await entitiesText(found, shown)}}` };
  },
});

/** /openapi/entities/v1: aspects carry the name of their record as `__type`. */
function firstVersionRoutes(names: ModelNames): readonly Endpoint[] {
  const path = "/openapi/entities/v1";

  function proposalIn(member: unknown, i: number, asked: Creation): Proposal {
    const { entityType, entityUrn, aspect, ...rest } = member as FirstVersion;
    // A member of the body takes precedence over the parameter.
    const creatingEntity = rest.createEntityIfNotExists ?? asked.createEntityIfNotExists;
    const creating = rest.createIfNotExists ?? asked.createIfNotExists;
    const { __type: record, ...value } = aspect;
    const type = names.entity(entityType);
    const aspectName = names.aspect(type, rest.aspectName ?? String(record ?? ""));
    if (aspectName === "") {
      throw new CatalogError("malformed", `[${i}].aspect has no __type`, {
        hint: 'Name its record: {"__type": "Ownership", …}',
      });
    }
    return {
      entityType: type,
      entityUrn,
      changeType: creatingEntity ? "CREATE_ENTITY" : creating ? "CREATE" : "UPSERT",
      aspectName,
      [REQUEST_PATH]: `[${i}]`,
      [HAS_TYPE_NAMES]: true,
      aspect: { value, contentType: "application/json" },
    };
  }

  const proposalsOf = ({ body, parameters }: ApiRequest): readonly Proposal[] =>
    (body as readonly unknown[]).map((member, i) => proposalIn(member, i, parameters as Creation));

  return [
    {
      ...row,
      method: "GET",
      path: `${path}/latest`,
      name: "readLatest",
      parameters: [
        query.strings("urns", "Entities", { required: true }),
        ...[...forms.aspects].reverse(),
        ...asOfParameters,
      ],
      reads: "entities",
      async handle({ parameters }, { catalog }) {
        const { urns, aspects, aspectNames } = parameters as Record<string, readonly string[]>;
        const named = [...(aspects ?? []), ...(aspectNames ?? [])].flatMap((one) => one.split(","));
        const wanted = named.length === 0 ? undefined : named;
        const found = await catalog.findEntities(urns ?? [], wanted);
        const members = found
          .filter(({ exists }) => exists)
          .map(({ urn, entityType, aspects: values }) => {
            const texts = values.map(
              (one) => `${JSON.stringify(one.name)}:${aspectText(one, { systemMetadata: false })}`,
            );
            const quoted = JSON.stringify(urn);
            return `${quoted}:{"entityName":${JSON.stringify(entityType)},"urn":${quoted},"aspects":{${texts.join(",")}}}`;
          });
        return { json: `{"responses":{${members.join(",")}}}` };
      },
    },
    {
      ...row,
      method: "POST",
      path,
      name: "writeEntities",
      parameters: [
        forms.asynchronous(false),
        query.boolean("createIfNotExists", "Rejected if one of the aspects already exists"),
        query.boolean("createEntityIfNotExists", "Rejected if one of the entities already exists"),
      ],
      status: 201,
      body: {
        type: "array",
        maxItems: 20_000,
        items: objectWith(["entityType", "entityUrn", "aspect"], {
          entityType: { type: "string" },
          entityUrn: schemas.urn,
          aspectName: { type: "string" },
          aspect: { type: "object" },
          createIfNotExists: { type: ["boolean", "null"] },
          createEntityIfNotExists: { type: ["boolean", "null"] },
        }),
      },
      writes: true,
      conditional: true,
      proposals: proposalsOf,
      async handle(request, context) {
        const proposals = request.proposals ?? proposalsOf(request);
        return writtenUrns(await write(proposals, request, context));
      },
    },
    {
      ...row,
      method: "DELETE",
      path,
      name: "deleteEntities",
      parameters: [
        query.strings("urns", "Entities", { required: true }),
        query.boolean(
          "soft",
          "`true` (the default) sets the status to removed; `false` deletes the entities",
        ),
      ],
      writes: true,
      async handle(request, context) {
        const { urns = [], soft = true } = request.parameters as {
          urns?: string[];
          soft?: boolean;
        };
        if (soft) {
          const proposals = urns.map((entityUrn) => ({
            entityType: entityTypeOf(entityUrn),
            entityUrn,
            changeType: "UPSERT" as const,
            aspectName: "status",
            aspect: { value: { removed: true }, contentType: "application/json" },
          }));
          const response = await write(proposals, request, context);
          return { ...response, json: JSON.stringify(urns.map((urn) => ({ urn, rows: 1 }))) };
        }
        // Each urn is deleted separately. The dry runs reject the request before the first delete.
        for (const urn of urns) await context.catalog.delete({ urn, dryRun: true }, request.caller);
        const deleted = [];
        let position: ApiResponse["position"];
        for (const urn of urns) {
          const gone = await context.catalog.delete({ urn }, request.caller);
          position = gone.position ?? position;
          deleted.push({ urn: gone.urn, rows: gone.rows ?? 0 });
        }
        return { position, json: JSON.stringify(deleted) };
      },
    },
  ];
}

interface Creation {
  readonly createIfNotExists?: boolean | null;
  readonly createEntityIfNotExists?: boolean | null;
}

interface FirstVersion extends Creation {
  readonly entityType: string;
  readonly entityUrn: string;
  readonly aspectName?: string;
  readonly aspect: JsonObject;
}

function placed(proposals: readonly Proposal[]): readonly Proposal[] {
  eachOf(proposals, openSystemMetadata);
  return proposals.map((proposal, i) => ({ ...proposal, [REQUEST_PATH]: `[${i}]` }));
}

/** Proposals as /aspects takes them, in a list. */
const platformRoute = (path: string, name: string): Endpoint => ({
  ...row,
  method: "POST",
  path,
  name,
  parameters: [forms.asynchronous(false)],
  status: 201,
  body: { type: "array", maxItems: 20_000, items: schemas.proposal },
  writes: true,
  conditional: true,
  proposals: ({ body }) => placed(body as readonly Proposal[]),
  handle: async (request, context) =>
    writtenUrns(
      await write(
        request.proposals ?? placed(request.body as readonly Proposal[]),
        request,
        context,
      ),
    ),
});

export const legacyRoutes = (names: ModelNames): readonly Endpoint[] => [
  batchV2(names),
  ...firstVersionRoutes(names),
  platformRoute("/openapi/platform/entities/v1", "writePlatformProposals"),
  platformRoute("/openapi/v2/platform/entities/v1", "writePlatformProposalsV2"),
];
