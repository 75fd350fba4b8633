/** /openapi/v3/entity and /openapi/v2/entity: writes and deletes. */
import type { Ingested, Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { jsonObject } from "../../../lib/json.ts";
import { withConditions } from "../../request/condition-headers.ts";
import {
  type ApiContext,
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  objectWith,
  type Schema,
} from "../../schemas/endpoint.ts";
import {
  createdByPatches,
  entitiesText,
  entityText,
  findEvent,
  type ModelNames,
  proposalOf,
  proposalsIn,
  type Version,
  written,
} from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { query } from "../../schemas/query-parameters.ts";
import { untilFound } from "../../schemas/search-sync.ts";
import { traceParent } from "../../schemas/trace-id.ts";
import { noAspect, targetOf } from "./openapi-entities.ts";

interface Query {
  readonly async?: boolean;
  readonly systemMetadata?: boolean;
  readonly createIfNotExists?: boolean;
  readonly createIfEntityNotExists?: boolean;
  readonly aspects?: readonly string[];
  readonly clear?: boolean;
}

export function entityWrites(version: Version, names: ModelNames): readonly Endpoint[] {
  const base = `/openapi/${version}/entity`;
  const suffix = version === "v3" ? "" : "V2";
  const row = {
    kind: "page",
    group: "OpenAPI",
    writes: true,
  } as const;
  const change = { ...row, conditional: true } as const;
  const ofAspect = { ...change, path: `${base}/{entity}/{urn}/{aspect}` } as const;
  function listed({ body, path }: ApiRequest, changeType: "UPSERT" | "PATCH"): readonly Proposal[] {
    const entityType = names.known(path.entity ?? "", "invalid");
    return proposalsIn(body as readonly Schema[], { entityType, changeType }, names);
  }

  async function many(
    request: ApiRequest,
    context: ApiContext,
    changeType: "UPSERT" | "PATCH",
  ): Promise<ApiResponse> {
    const { systemMetadata = false, async = true } = request.parameters as Query;
    const { catalog } = context;
    const proposals = request.proposals ?? listed(request, changeType);
    if (async && changeType === "PATCH") {
      return { ...(await write(proposals, request, context)), status: 202 };
    }
    const created = await createdByPatches(proposals, catalog);
    const response = await write(proposals, request, context);
    const entities = await written(proposals, catalog, names, created);
    const traceId = async ? traceIdOf(response) : undefined;
    const json = await entitiesText(entities, { version, systemMetadata, traceId });
    return { ...response, ...(async && { status: 202 }), json };
  }

  function single(request: ApiRequest, changeType: Proposal["changeType"]): Proposal {
    const { urn, entityType, aspect: aspectName } = targetOf(request, names);
    const body = version === "v2" && changeType !== "PATCH" ? wrapped(request.body) : request.body;
    return proposalOf(body, { urn, entityType, changeType, aspectName, path: "" });
  }

  function kindOf(request: ApiRequest): Proposal["changeType"] {
    const asked = request.parameters as Query;
    const { createIfEntityNotExists = false, createIfNotExists = true } = asked;
    const { entityType, aspect } = targetOf(request, names);
    if (createIfEntityNotExists) return "CREATE_ENTITY";
    return createIfNotExists && !names.isTimeseries(entityType, aspect) ? "CREATE" : "UPSERT";
  }

  async function one(request: ApiRequest, context: ApiContext, changeType: Proposal["changeType"]) {
    const { urn } = targetOf(request, names);
    const { systemMetadata = false, async = false } = request.parameters as Query;
    const { catalog } = context;
    const proposals = request.proposals ?? [single(request, changeType)];
    const created = await createdByPatches(proposals, catalog);
    const response = await write(proposals, request, context);
    const [entity = { urn, aspects: [] }] = await written(proposals, catalog, names, created);
    const traceId = async ? traceIdOf(response) : undefined;
    const json = entityText(entity, { version, systemMetadata, traceId });
    return { ...response, ...(async && { status: 202 }), json };
  }

  /** Timeseries aspects among the named ones that have events. */
  async function seriesOf(
    urn: string,
    entityType: string,
    asked: readonly string[] | undefined,
    { caller }: ApiRequest,
    { catalog }: ApiContext,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (const aspectName of new Set(asked)) {
      if (!names.isTimeseries(entityType, aspectName)) continue;
      const { timeseriesRows } = await catalog.delete({ urn, aspectName, dryRun: true }, caller);
      if (timeseriesRows > 0) found.push(aspectName);
    }
    return found;
  }

  /** Deletes the newest events, as DataHub does. Throws `not_found` when there are none. */
  async function deleteNewest(
    target: { readonly urn: string; readonly entityType: string; readonly aspect: string },
    { caller }: ApiRequest,
    context: ApiContext,
  ): Promise<ApiResponse> {
    const { urn, aspect: aspectName } = target;
    const event = await findEvent(context.catalog, target);
    if (event === undefined) throw noAspect(urn, aspectName);
    const { timestampMillis } = JSON.parse(event.value) as { readonly timestampMillis: number };
    const range = { startTimeMillis: timestampMillis, endTimeMillis: timestampMillis };
    const { position } = await context.catalog.delete({ urn, aspectName, ...range }, caller);
    return responseAt(position, context);
  }

  return [
    {
      ...change,
      method: "POST",
      path: `${base}/{entity}`,
      name: `upsertEntities${suffix}`,
      parameters: [forms.entity, forms.asynchronous(true), forms.systemMetadata],
      body: forms.entitiesIn,
      proposals: (request) => listed(request, "UPSERT"),
      handle: (request, context) => many(request, context, "UPSERT"),
    },
    {
      ...change,
      method: "PATCH",
      path: `${base}/{entity}`,
      name: `patchEntities${suffix}`,
      parameters: [forms.entity, forms.asynchronous(true), forms.systemMetadata],
      body: forms.entitiesIn,
      proposals: (request) => listed(request, "PATCH"),
      handle: (request, context) => many(request, context, "PATCH"),
    },
    {
      ...row,
      method: "DELETE",
      path: `${base}/{entity}/{urn}`,
      name: `deleteEntity${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn],
        query.strings(
          "aspects",
          "Only these aspects; unknown ones are ignored, and the key aspect deletes the whole entity",
        ),
        query.boolean("clear", "All versioned aspects but the key; `false` when absent"),
      ],
      async handle(request, context) {
        const { urn, entityType } = targetOf(request, names);
        const { aspects = [], clear = false } = request.parameters as Query;
        const named = aspects.flatMap((one) => one.split(","));
        if (!clear && named.length === 0) {
          const { position } = await context.catalog.delete({ urn }, request.caller);
          return responseAt(position, context);
        }
        if (request.caller.idempotencyKey !== undefined) throw partsUnderKey();
        const asked = clear ? undefined : named.map((name) => names.aspect(entityType, name));
        const [found] = await context.catalog.findEntities([urn], asked);
        const key = names.keyOf(entityType);
        const there = (found?.aspects ?? []).map(({ name }) => name);
        const series = await seriesOf(urn, entityType, asked, request, context);
        // The key stands for the whole entity: with it, all the others go.
        const gone =
          !clear && key !== undefined && there.includes(key)
            ? [key]
            : [...there.filter((name) => !clear || name !== key), ...series];
        const proposals = gone.map((aspectName) => ({
          entityType,
          entityUrn: urn,
          changeType: "DELETE" as const,
          aspectName,
        }));
        if (proposals.length === 0) return {};
        return write(proposals, request, context);
      },
    },
    {
      ...ofAspect,
      method: "POST",
      name: `writeAspect${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn, forms.aspect],
        ...[forms.asynchronous(false), forms.systemMetadata],
        query.boolean(
          "createIfNotExists",
          "Write the aspect only if it does not exist; `true` when absent",
        ),
        query.boolean(
          "createIfEntityNotExists",
          "Write the aspect only if the entity does not exist; `false` when absent",
        ),
      ],
      body:
        version === "v3"
          ? { ...forms.aspectIn, type: "object", required: ["value"], properties: aspectMembers }
          : {
              type: "object",
              properties: {},
              additionalProperties: true,
              description: "The aspect itself",
            },
      proposals: (request) => [single(request, kindOf(request))],
      handle: (request, context) => one(request, context, kindOf(request)),
    },
    {
      ...ofAspect,
      method: "PATCH",
      name: `patchAspect${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn, forms.aspect],
        ...[forms.asynchronous(false), forms.systemMetadata],
      ],
      body: objectWith(["patch"], {
        patch: { type: "array", items: { type: "object" } },
        arrayPrimaryKeys: { type: ["object", "null"] },
        forceGenericPatch: { type: ["boolean", "null"] },
        ...patchMembers,
      }),
      handle(request, context) {
        const { headers, systemMetadata, ...sent } = request.body as Schema;
        const present = Object.entries(sent).filter(([, value]) => value !== null);
        const body = { value: Object.fromEntries(present), headers, systemMetadata };
        return one({ ...request, body }, context, "PATCH");
      },
    },
    {
      ...ofAspect,
      method: "DELETE",
      name: `deleteAspect${suffix}`,
      parameters: [forms.entity, forms.urn, forms.aspect],
      async handle(request, context) {
        const target = targetOf(request, names);
        const { urn, entityType, aspect: aspectName } = target;
        if (names.isTimeseries(entityType, aspectName) && request.conditions === undefined) {
          return deleteNewest(target, request, context);
        }
        const isKey = names.aspect(entityType, aspectName) === names.keyOf(entityType);
        // Conditions need the form of a proposal, which carries headers.
        if (isKey && request.conditions === undefined) {
          const { position, rows } = await context.catalog.delete({ urn }, request.caller);
          if (rows === 0) throw noAspect(urn, aspectName);
          return responseAt(position, context);
        }
        const proposal = { entityType, entityUrn: urn, changeType: "DELETE" as const, aspectName };
        return write([proposal], request, context);
      },
    },
  ];
}

/** `{value}` of v3; in v2 the body is the aspect itself, and `{value}` is accepted, too. */
function wrapped(body: unknown): unknown {
  const members = jsonObject(body) ? Object.keys(body) : [];
  const isWrapped =
    jsonObject(body) &&
    jsonObject(body.value) &&
    members.every((name) => Object.hasOwn(aspectMembers, name));
  return isWrapped ? body : { value: body };
}

export const traceIdOf = ({ headers }: ApiResponse): string | undefined =>
  headers?.traceparent?.split("-")[1];

const { value: _, ...patchMembers } = forms.aspectIn.properties as Readonly<Record<string, Schema>>;
const aspectMembers = forms.aspectIn.properties as Readonly<Record<string, Schema>>;

/** Writes; waits until searches show it where that is asked for. */
export async function write(
  proposals: readonly Proposal[],
  { caller, conditions }: Pick<ApiRequest, "caller" | "conditions">,
  context: ApiContext,
): Promise<ApiResponse & Pick<Ingested, "changed">> {
  const conditioned = proposals.map((proposal) => withConditions(proposal, conditions));
  const { position, changed } = await context.catalog.ingest(conditioned, caller);
  await untilFound(conditioned, { position }, context.catalog);
  return { ...responseAt(position, context), changed };
}

/** Not idempotent: it deletes what exists at the time of the request. */
const partsUnderKey = (): CatalogError =>
  new CatalogError("malformed", "a delete of some aspects does not support Idempotency-Key", {
    hint: "Leave the header out, or send proposals of change type DELETE to ingestProposalBatch",
  });

const responseAt = (position: ApiResponse["position"], { now }: ApiContext): ApiResponse =>
  position === undefined
    ? {}
    : { position, headers: { traceparent: traceParent(position, now()) } };
