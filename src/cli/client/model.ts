/** The metadata model of the service, for messages and completion. */
import { type AnnalsClient, AnnalsError, dataOf } from "../../client/client.ts";
import { CatalogError } from "../../core/errors.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import { UsageError } from "../failure.ts";
import { timeOf } from "../terminal/output.ts";

interface AspectOfType {
  readonly name: string;
  readonly isTimeseries: boolean;
}

const models = "/openapi/v1/registry/models/entity/specifications" as const;

/** Aspects of an entity type, the key aspect first. Throws UsageError for an unknown type. */
export async function aspectsOf(
  client: AnnalsClient,
  entityType: string,
): Promise<readonly AspectOfType[]> {
  const path = { entity: entityType };
  const read = client.GET(`${models}/{entity}`, { params: { path } });
  const model = await dataOf(read).catch((error) => {
    throw error.code === "not_found" ? new UsageError(error.message) : error;
  });
  const { keyAspectName, aspectSpecs } = model;
  const others = aspectSpecs.map(({ aspectAnnotation, timeseries }) => ({
    name: aspectAnnotation.name,
    isTimeseries: timeseries,
  }));
  return [{ name: keyAspectName, isTimeseries: false }, ...others];
}

/** The names of all entity types. */
export async function entityTypesOf(client: AnnalsClient): Promise<readonly string[]> {
  const page = await dataOf(client.GET(models, { params: { query: { count: 10_000 } } }));
  return page.elements.map(({ name }) => name);
}

/** Throws `invalid` with the nearest name for an aspect that the entity type does not have. */
export function requireAspect(name: string, entityType: string, aspects: readonly AspectOfType[]) {
  const found = aspects.find((aspect) => aspect.name === name);
  if (found !== undefined) return found;
  const names = aspects.map((aspect) => aspect.name);
  throw new CatalogError("invalid", `entity type "${entityType}" has no aspect "${name}"`, {
    hint: nearest(name, names) ?? beginningWith(name, names) ?? `It has ${names.join(", ")}`,
  });
}

/** `owner` is short for `ownership`. */
function beginningWith(name: string, names: readonly string[]): string | undefined {
  const longer = names.find((one) => one.toLowerCase().startsWith(name.toLowerCase()));
  return longer === undefined ? undefined : `Did you mean "${longer}"?`;
}

/** The entity type in a urn. The service decides whether the type exists. */
export function entityTypeIn(urn: string): string {
  const type = /^urn:[^:]+:([^:]+):./s.exec(urn)?.[1];
  if (type !== undefined) return type;
  throw new CatalogError("invalid", `"${urn}" is not a urn`, {
    hint: "A urn is like urn:li:tag:PersonalData; find one with annals search",
  });
}

export type PointInTime =
  | Readonly<Record<string, never>>
  | { readonly asOfPosition: string }
  | { readonly asOfTime: string };

/** Throws AnnalsError `not_found` for an entity that does not exist at this point in time; hidden entities exist. */
export async function requireEntity(
  client: AnnalsClient,
  urn: string,
  point: PointInTime = {},
): Promise<void> {
  const read = client.POST("/entities?action=exists", {
    ...{ params: { query: point }, body: { urn } },
  });
  if (!(await dataOf(read)).value) throw noEntity(urn, point);
}

function noEntity(urn: string, point: PointInTime = {}): AnnalsError {
  const at =
    "asOfPosition" in point
      ? ` at position ${point.asOfPosition}`
      : "asOfTime" in point
        ? ` at ${timeOf(Number(point.asOfTime))}`
        : undefined;
  const hint =
    at === undefined ? "Find one with annals search" : "See its changes with annals history";
  return new AnnalsError(`there is no entity "${urn}"${at ?? ""}. ${hint}`, 404, "not_found");
}
