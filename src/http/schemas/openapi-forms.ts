/**
 * Entities and proposals of the OpenAPI endpoints: `{urn, <aspect>: {value}}` (v3) and
 * `{urn, aspects: {<aspect>: {value}}}` (v2). Stored values are returned unchanged.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  type Catalog,
  type FoundAspect,
  type Proposal,
  type ProposedChange,
  REQUEST_PATH,
} from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { parseUrn } from "../../core/urn.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { EntityOutline } from "../docs/docs-model.ts";

export type Version = "v2" | "v3";

/** Resolves names of the model in any letter case. */
export interface ModelNames {
  entity(name: string): string;
  /**
   * The same for a list, which may be empty. Throws for an unknown type: `invalid` for writes,
   * `not_found` for reads.
   */
  known(name: string, code: "invalid" | "not_found"): string;
  aspect(entityType: string, name: string): string;
  isTimeseries(entityType: string, aspect: string): boolean;
  /** The key aspect. */
  keyOf(entityType: string): string | undefined;
}

export function createModelNames(entities: readonly EntityOutline[]): ModelNames {
  const types = new Map(entities.map((entity) => [entity.name.toLowerCase(), entity]));
  const outline = (name: string) => types.get(name.toLowerCase());
  const aspectOf = (entityType: string, name: string) => {
    const lower = name.toLowerCase();
    return outline(entityType)?.aspects.find((aspect) => aspect.name.toLowerCase() === lower);
  };
  return {
    entity: (name) => outline(name)?.name ?? name,
    known(name, code) {
      const known = outline(name)?.name;
      if (known !== undefined) return known;
      throw new CatalogError(code, `unknown entity type "${name.slice(0, 120)}"`, {
        hint: nearest(
          name,
          entities.map((entity) => entity.name),
        ),
      });
    },
    aspect: (entityType, name) => aspectOf(entityType, name)?.name ?? name,
    isTimeseries: (entityType, name) => aspectOf(entityType, name)?.timeseries === true,
    keyOf: (entityType) => outline(entityType)?.aspects[0]?.name,
  };
}

interface ShownParts {
  readonly systemMetadata: boolean;
  /** Trace id of an asynchronous write: part of the system metadata, which is then always shown. */
  readonly traceId?: string | undefined;
}

interface Shown extends ShownParts {
  readonly version: Version;
}

/** A stored aspect, or an event of a timeseries aspect, which has no version. */
type ShownAspect = FoundAspect | ShownEvent;

type ShownEvent = Pick<FoundAspect, "name" | "value"> & {
  readonly version?: undefined;
  readonly system?: FoundAspect["system"] | undefined;
};

export interface ShownEntity {
  readonly urn: string;
  readonly aspects: readonly ShownAspect[];
}

/** `{"value": …}`, on request with system metadata and audit stamp. */
export function aspectText(aspect: ShownAspect, shown: ShownParts): string {
  const { value, system } = aspect;
  const { systemMetadata, traceId } = shown;
  if (!systemMetadata && traceId === undefined) return `{"value":${value}}`;
  const traced = traceId !== undefined && {
    properties: { ...system?.properties, telemetryTraceId: traceId },
  };
  if (aspect.version === undefined) {
    return system === undefined && traceId === undefined
      ? `{"value":${value}}`
      : `{"value":${value},"systemMetadata":${JSON.stringify({ ...system, ...traced })}}`;
  }
  const stamp = { time: aspect.time, actor: aspect.actor };
  const stamped = {
    // Writes of the system carry no stamps of their own.
    ...(aspect.version === 1 && { aspectCreated: stamp }),
    aspectModified: stamp,
    ...system,
    ...traced,
  };
  return `{"value":${value},"systemMetadata":${JSON.stringify(stamped)},"auditStamp":${JSON.stringify(stamp)}}`;
}

/**
 * The latest event of a timeseries aspect; with `version` not 0, the latest at or before that time in
 * epoch milliseconds, as DataHub reads it. Undefined when there is none.
 */
export async function findEvent(
  catalog: Pick<Catalog, "getTimeseriesValues">,
  { urn, entityType, aspect }: { urn: string; entityType: string; aspect: string },
  version = 0,
): Promise<ShownEvent | undefined> {
  const endTimeMillis = version === 0 ? undefined : version;
  const { json } = await catalog.getTimeseriesValues({
    ...{ urn, entity: entityType, aspect, endTimeMillis, limit: 1 },
  });
  const { values } = JSON.parse(json).value as {
    readonly values: readonly {
      readonly aspect: { readonly value: string };
      readonly systemMetadata?: FoundAspect["system"];
    }[];
  };
  const [event] = values;
  return event && { name: aspect, value: event.aspect.value, system: event.systemMetadata };
}

export function entityText({ urn, aspects }: ShownEntity, shown: Shown): string {
  const members = aspects.map(
    (aspect) => `${JSON.stringify(aspect.name)}:${aspectText(aspect, shown)}`,
  );
  const head = `{"urn":${JSON.stringify(urn)}`;
  if (shown.version === "v2") return `${head},"aspects":{${members.join(",")}}}`;
  return `${[head, ...members].join(",")}}`;
}

/** Entities whose texts are made before other requests run. */
const entitiesAtOnce = 500;

/** A JSON list. */
export async function entitiesText(
  entities: readonly ShownEntity[],
  shown: Shown,
): Promise<string> {
  const texts: string[] = [];
  for (const entity of entities) {
    if (texts.length > 0 && texts.length % entitiesAtOnce === 0) await yieldToEventLoop();
    texts.push(entityText(entity, shown));
  }
  return `[${texts.join(",")}]`;
}

/** Canonical names of the aspects in a query; undefined without any. */
export const namedAspects = (
  names: ModelNames,
  entityType: string,
  { aspects, aspectNames }: { aspects?: readonly string[]; aspectNames?: readonly string[] },
): readonly string[] | undefined => {
  const named = [...(aspects ?? []), ...(aspectNames ?? [])].flatMap((one) => one.split(","));
  return named.length === 0 ? undefined : named.map((name) => names.aspect(entityType, name));
};

/** The change that members of a list request. */
interface ProposalDefaults {
  readonly entityType: string;
  readonly changeType: ProposedChange;
  /** Prefix of a member's index in messages. */
  readonly path?: string;
}

/** Throws `malformed` and names the invalid member. */
export function proposalsIn(
  body: readonly JsonObject[],
  asked: ProposalDefaults,
  names: ModelNames,
): readonly Proposal[] {
  const path = asked.path ?? "";
  return body.flatMap((member, i) => {
    const { urn } = member;
    if (typeof urn !== "string") throw unfit(`${path}[${i}].urn`, urn, "Send the entity's urn");
    const all = aspectsIn(member);
    // Without aspects nothing else checks the urn.
    if (Object.keys(all).length === 0) parseUrn(urn);
    return Object.entries(all).map(([name, aspect]) =>
      proposalOf(aspect, {
        urn,
        entityType: asked.entityType,
        changeType: asked.changeType,
        aspectName: names.aspect(asked.entityType, name),
        path: `${path}[${i}].${name}`,
      }),
    );
  });
}

/** The aspects among the members of an entity. In v2 `aspects` holds them; no aspect has that name. */
export function aspectsIn({ urn: _, ...rest }: JsonObject): JsonObject {
  const { aspects, ...flat } = rest;
  return jsonObject(aspects) ? { ...flat, ...aspects } : rest;
}

interface ProposalContext {
  readonly urn: string;
  readonly entityType: string;
  readonly changeType: ProposedChange;
  readonly aspectName: string;
  readonly path: string;
}

/** From `{value, systemMetadata?, headers?}`. */
export function proposalOf(aspect: unknown, about: ProposalContext): Proposal {
  const { urn: entityUrn, entityType, changeType, aspectName, path } = about;
  const { value, systemMetadata, headers } = jsonObject(aspect) ? aspect : {};
  const patch = changeType === "PATCH";
  if (!jsonObject(value) && !(patch && Array.isArray(value))) {
    throw unfit(`${path}.value`, value, 'Send {"value": {…}}');
  }
  if (!absent(systemMetadata) && !jsonObject(systemMetadata)) {
    throw unfit(`${path}.systemMetadata`, systemMetadata, "Send an object");
  }
  return {
    entityType,
    entityUrn,
    changeType,
    aspectName,
    [REQUEST_PATH]: path,
    aspect: { value, contentType: patch ? "application/json-patch+json" : "application/json" },
    ...(jsonObject(systemMetadata) && { systemMetadata: systemOf(systemMetadata) }),
    ...(!absent(headers) && { headers: headersOf(headers, path) }),
  };
}

/** Null members count as absent. */
const systemOf = (sent: JsonObject): Proposal["systemMetadata"] =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));

function headersOf(headers: unknown, path: string): Readonly<Record<string, string>> {
  const entries = jsonObject(headers) ? Object.entries(headers) : undefined;
  if (entries?.every(([, value]) => typeof value === "string") !== true) {
    throw unfit(`${path}.headers`, headers, "Send texts by name");
  }
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}

const absent = (value: unknown): boolean => value === undefined || value === null;

export function unfit(path: string, found: unknown, hint: string): CatalogError {
  const shown = (JSON.stringify(found) ?? "nothing").slice(0, 60);
  return new CatalogError("malformed", `${path.replace(/^\./, "")} is ${shown}`, { hint });
}

/** Urns of the entities that patches will create; none when the request will be rejected. */
export async function createdByPatches(
  proposals: readonly Proposal[],
  catalog: Pick<Catalog, "filterExisting">,
): Promise<ReadonlySet<string>> {
  const patches = proposals.filter(({ changeType }) => changeType === "PATCH");
  const urns = [...new Set(patches.map(({ entityUrn = "" }) => entityUrn))];
  if (urns.length === 0) return new Set();
  try {
    const there = new Set(await catalog.filterExisting(urns, { includeSoftDelete: true }));
    return new Set(urns.filter((urn) => !there.has(urn)));
  } catch (error) {
    if (error instanceof CatalogError) return new Set();
    throw error;
  }
}

/**
 * The current state of the written entities, each once: the aspects that the request named, all aspects
 * of the `created` ones, and the last event of each timeseries aspect. Values are omitted when they
 * exceed the size of a response, because the write can no longer be rejected.
 */
export async function written(
  proposals: readonly Proposal[],
  catalog: Pick<Catalog, "findEntities">,
  names: ModelNames,
  created: ReadonlySet<string> = new Set(),
): Promise<readonly ShownEntity[]> {
  const named = new Map<string, Set<string>>();
  const events = new Map<string, Map<string, ShownAspect>>();
  for (const { entityType = "", entityUrn = "", aspectName = "", aspect } of proposals) {
    named.set(entityUrn, (named.get(entityUrn) ?? new Set()).add(aspectName));
    if (!names.isTimeseries(entityType, aspectName)) continue;
    const value = aspect?.value ?? {};
    // Values of large bodies are JSON texts already.
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const event = { name: aspectName, value: text };
    events.set(entityUrn, (events.get(entityUrn) ?? new Map()).set(aspectName, event));
  }
  const urns = [...named.keys()];
  const all =
    created.size > 0 ? undefined : [...new Set(proposals.map(({ aspectName = "" }) => aspectName))];
  const found = await catalog.findEntities(urns, all).catch((error: unknown) => {
    if (!(error instanceof CatalogError && error.code === "too_large")) throw error;
    return catalog.findEntities(urns, []);
  });
  return found.map(({ urn, aspects }, i) => {
    const asked = urns[i] ?? "";
    const values = aspects.filter(({ name }) => created.has(asked) || named.get(asked)?.has(name));
    return { urn, aspects: [...values, ...(events.get(asked)?.values() ?? [])] };
  });
}
