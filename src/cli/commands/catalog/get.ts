/** `annals get`: an entity, some of its aspects, one version of an aspect, or a state of the past. */
import { dataOf, listOf } from "../../../client/client.ts";
import {
  aspectsOf,
  entityTypeIn,
  type PointInTime,
  requireAspect,
  requireEntity,
} from "../../client/model.ts";
import type { Session } from "../../client/session.ts";
import { UsageError } from "../../failure.ts";
import { timeOf, yamlOf } from "../../terminal/output.ts";
import { instantOf } from "../operations/repair.ts";

export interface GetFlags {
  /** Number of the value of an aspect; 0 is the latest, -1 the one before. */
  readonly aspectVersion?: number;
  readonly asOf?: string;
  /** Events of a timeseries aspect. */
  readonly count: number;
}

/** An aspect as the responses have it. */
interface ReadAspect {
  readonly value: unknown;
  readonly created?: { readonly time: number; readonly actor: string } | undefined;
  readonly systemMetadata?: object | string | undefined;
}

export async function get(
  session: Session,
  urn: string,
  names: readonly string[],
  { aspectVersion, asOf, count }: GetFlags,
): Promise<void> {
  const { client } = session;
  const entityType = entityTypeIn(urn);
  const model = await aspectsOf(client, entityType);
  const wanted = names.map((name) => requireAspect(name, entityType, model));
  const series = wanted.find(({ isTimeseries }) => isTimeseries);
  if (series !== undefined) return getEvents(session, urn, entityType, series.name, count);
  const [only] = names;
  let aspects: Readonly<Record<string, ReadAspect>>;
  if (aspectVersion !== undefined) {
    if (only === undefined || names.length > 1) {
      throw new UsageError("--aspect-version needs the name of one aspect");
    }
    if (asOf !== undefined) throw new UsageError("Use either --aspect-version or --as-of");
    aspects = { [only]: await readVersion(session, urn, only, aspectVersion) };
  } else aspects = await readAspects(session, urn, names, pointInTime(asOf));
  const value = { urn, entityType, aspects };
  await session.print({ value, urns: [urn], table: textOf(urn, aspects) });
}

/** The named aspects, or all. Throws AnnalsError `not_found` without the entity or a named aspect. */
export async function readAspects(
  { client }: Pick<Session, "client">,
  urn: string,
  names: readonly string[],
  point: PointInTime,
): Promise<Readonly<Record<string, ReadAspect>>> {
  await requireEntity(client, urn, point);
  const query = {
    ...point,
    ...(names.length > 0 && { aspects: listOf(names), alwaysIncludeKeyAspect: false }),
  };
  const params = { path: { urn }, query };
  return (await dataOf(client.GET("/entitiesV2/{urn}", { params }))).aspects;
}

/** Throws AnnalsError `not_found` where the aspect has no such version. */
export async function readVersion(
  { client }: Pick<Session, "client">,
  urn: string,
  aspect: string,
  version: number,
): Promise<ReadAspect> {
  const path = { entity: entityTypeIn(urn), urn, aspect };
  const query = { version, systemMetadata: true };
  const read = client.GET("/openapi/v3/entity/{entity}/{urn}/{aspect}", {
    params: { path, query },
  });
  const { auditStamp, ...found } = await dataOf(read);
  return { ...found, created: auditStamp };
}

/** A whole number is a position of the log; anything else a date or a time. */
export function pointInTime(given: string | undefined): PointInTime {
  if (given === undefined) return {};
  if (/^\d{1,15}$/.test(given)) return { asOfPosition: given };
  const time = instantOf(given);
  if (time !== undefined) return { asOfTime: String(time) };
  throw new UsageError(
    `"${given}" is neither a position nor a time. Write 125, 2026-01-31 or 2026-01-31T12:00:00Z`,
  );
}

async function getEvents(
  session: Session,
  urn: string,
  entityType: string,
  aspect: string,
  limit: number,
): Promise<void> {
  const body = { urn, entity: entityType, aspect, limit };
  const read = session.client.POST("/aspects?action=getTimeseriesAspectValues", { body });
  const { values } = (await dataOf(read)).value;
  const events = values.map((event) => JSON.parse(event.aspect.value));
  await session.print({
    ...{ value: events, urns: [urn], table: events.map(yamlOf).join("\n---\n") },
    none: `${urn} has no events of ${aspect}`,
  });
}

function textOf(urn: string, aspects: Readonly<Record<string, ReadAspect>>): string {
  const sections = Object.entries(aspects).map(([name, { value, created, systemMetadata }]) => {
    const version = metadataOf(systemMetadata, "version");
    const facts = [
      ...(version === undefined ? [] : [`version ${version}`]),
      ...(created === undefined ? [] : [timeOf(created.time), `by ${created.actor}`]),
    ];
    const head = facts.length === 0 ? name : `${name} (${facts.join(", ")})`;
    return `${head}\n${indented(yamlOf(value))}`;
  });
  return sections.length === 0
    ? `${urn} has none of these aspects`
    : [urn, ...sections].join("\n\n");
}

/** A member of system metadata, which old clients write as text. */
export function metadataOf(metadata: unknown, member: string): string | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const found: unknown = Reflect.get(metadata, member);
  return found === undefined ? undefined : String(found);
}

const indented = (text: string): string => text.replaceAll(/^/gm, "  ");
