/** The values of entity fields, from the aspects in the request's loader. */
import { NO_RUN_ID } from "../../core/change.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { type JsonObject, jsonObject, stringsIn } from "../../lib/json.ts";
import { maxOf } from "../../lib/lists.ts";
import type { Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { propertiesAspectOf } from "../schema/entity-types.ts";
import { type EntitySource, entityOf, namedAs } from "./entity-source.ts";

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Time of the last write by a run with an id. */
export function lastIngestedOf({ found }: LoadedEntity): number | null {
  const times = (found?.aspects ?? [])
    .filter(({ system }) => [system.runId, system.lastRunId].some(isRun))
    .map(({ system }) => system.lastObserved);
  return times.length === 0 ? null : maxOf(times);
}

const isRun = (runId: string | undefined) => (runId ?? NO_RUN_ID) !== NO_RUN_ID;

/** Last part of the urn: the name of an entity without one. */
const lastPart = (urn: string): string => {
  const id = urn.split(":").slice(3).join(":");
  return id.startsWith("(") ? (id.slice(1, -1).split(",").at(-1) ?? id) : id;
};

/** The entity's own aspect of properties, with a name; null without the aspect. */
export function propertiesOf(loaded: LoadedEntity): JsonObject | null {
  const entityType = entityTypeOf(loaded.urn);
  const properties = loaded.aspect(propertiesAspectOf(entityType));
  if (properties === undefined) return null;
  return {
    ...properties,
    name: properties.name ?? properties.title ?? properties.displayName ?? nameOf(loaded),
    description: properties.description ?? properties.definition,
    customProperties: entriesOf(properties.customProperties) ?? [],
  };
}

/** A map as a list of entries, because GraphQL has no maps. */
export const entriesOf = (map: unknown) =>
  jsonObject(map)
    ? Object.entries(map).map(([key, value]) => ({ key, value: String(value) }))
    : null;

/** The name that the properties or the key give, else the last part of the urn. */
export function nameOf(loaded: LoadedEntity): string {
  const entityType = entityTypeOf(loaded.urn);
  const properties = loaded.aspect(propertiesAspectOf(entityType)) ?? {};
  const key = loaded.key();
  // A platform's name is its key; the name in its properties is for display.
  const names =
    entityType === "dataPlatform" || entityType === "corpGroup"
      ? [key.platformName, key.name]
      : [properties.name, properties.title, key.name];
  return names.map(text).find((name) => name !== null && name !== "") ?? lastPart(loaded.urn);
}

/** The name for display, which platforms, users and groups have beside their name. */
export const displayNameOf = (loaded: LoadedEntity): string =>
  text(propertiesOf(loaded)?.displayName) ??
  text(loaded.aspect("corpUserInfo")?.displayName) ??
  nameOf(loaded);

/** The platform that the urn names, else that of the aspect dataPlatformInstance. */
export function platformOf(loaded: LoadedEntity, { namespace }: Viewer): EntitySource | null {
  const key = loaded.key();
  const instance = loaded.aspect("dataPlatformInstance")?.platform;
  const platform = namedAs("DataPlatform", key.platform ?? instance);
  const tool = text(key.dashboardTool ?? key.orchestrator);
  return platform ?? (tool === null ? null : entityOf(`urn:${namespace}:dataPlatform:${tool}`));
}

/** The groups of a user. */
export async function groupsOf(user: string, loader: Viewer["loader"]): Promise<readonly string[]> {
  const { aspect } = await loader.load(user);
  return [
    ...stringsIn(aspect("groupMembership")?.groups),
    ...stringsIn(aspect("nativeGroupMembership")?.nativeGroups),
  ];
}
