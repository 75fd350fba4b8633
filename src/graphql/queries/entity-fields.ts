/** Fields of entities that take arguments. All others are in mapping/tables/. */
import { entityTypeOf } from "../../core/urn.ts";
import { type JsonObject, jsonObject, objectsIn, stringsIn } from "../../lib/json.ts";
import type { InputArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { type EntitySource, namedBy } from "./entity-source.ts";
import { groupsOf } from "./entity-values.ts";
import { jobRuns } from "./job-runs.ts";
import { pageOf } from "./pages.ts";

interface RelationshipsInput {
  readonly types: readonly string[];
  readonly direction: string;
  readonly start?: number | null;
  readonly count?: number | null;
  readonly includeSoftDelete?: boolean | null;
  /** The page omits entities of other types, and the total does not count those it omits. */
  readonly relatedEntityTypes?: Maybe<readonly string[]>;
}

async function relationships(
  { urn }: EntitySource,
  { input }: InputArgs<RelationshipsInput>,
  { catalog, loader, entityTypes }: Viewer,
) {
  const related = input.relatedEntityTypes?.map((type) => entityTypes.find(type) ?? type);
  const { types, direction, start, count, includeSoftDelete } = input;
  const includeSoftDeleted = includeSoftDelete ?? true;
  const page = { start: start ?? 0, count: count ?? 100 };
  const roles = await rolesOfGroups(urn, { types, direction }, loader);
  const asked = { urn, types, direction, ...page, includeSoftDeleted };
  const found = await loader.list(
    page.count,
    async () => catalog.listRelationships(asked),
    (one) => one.relationships.length,
  );
  const stamps = once(async () => {
    const { relationships } = await catalog.listRelationships({ ...asked, stamped: true });
    return new Map(relationships.map((one) => [`${one.type} ${one.urn}`, one.created]));
  });
  const { total } = found;
  const added = roles
    .slice(Math.max(0, page.start - total), Math.max(0, page.start + page.count - total))
    .map((role) => ({ type: ROLE, urn: role }));
  const all = [...found.relationships, ...added];
  const shown = all.filter((one) => related?.includes(entityTypeOf(one.urn)) ?? true);
  return {
    start: found.start,
    count: found.count + added.length - (all.length - shown.length),
    total: total + roles.length - (all.length - shown.length),
    relationships: shown.map((one) => ({
      type: one.type,
      direction,
      entity: namedBy(one.urn),
      created: async () => (await stamps()).get(`${one.type} ${one.urn}`),
    })),
  };
}

const ROLE = "IsMemberOfRole";

/** The roles that a user has through groups only. They follow the user's own. */
async function rolesOfGroups(
  urn: string,
  { types, direction }: Pick<RelationshipsInput, "types" | "direction">,
  loader: Viewer["loader"],
): Promise<readonly string[]> {
  const asksForRoles = direction === "OUTGOING" && types.includes(ROLE);
  if (!asksForRoles || entityTypeOf(urn) !== "corpuser") return [];
  const rolesOf = async (member: string) =>
    stringsIn((await loader.load(member)).aspect("roleMembership")?.roles);
  const groups = await groupsOf(urn, loader);
  const roles = new Set((await Promise.all(groups.map(rolesOf))).flat());
  return [...roles.difference(new Set(await rolesOf(urn)))];
}

/** Runs `read` on the first call only. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

async function rawAspects(
  { urn }: EntitySource,
  {
    input,
  }: { input?: { aspectNames?: Maybe<readonly string[]>; autoRenderOnly?: Maybe<boolean> } },
  { loader }: Viewer,
) {
  // No aspect of the model is annotated with a rendering of its own.
  if (input?.autoRenderOnly === true) return [];
  const { found } = await loader.load(urn);
  const names = input?.aspectNames ?? [];
  return (found?.aspects ?? [])
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ name, value }) => ({ aspectName: name, payload: value }));
}

/** The argument `version` is that of the aspect: 0 is the latest. */
export async function schemaMetadata(
  { urn }: Pick<EntitySource, "urn">,
  { version }: { version?: number | null },
  { loader }: Viewer,
) {
  const name = "schemaMetadata";
  const aspectVersion = version ?? 0;
  const latest = async () =>
    (await loader.load(urn)).found?.aspects.find((one) => one.name === name);
  const stored = await (aspectVersion === 0 ? latest() : loader.version(urn, name, aspectVersion));
  const value: unknown = stored && JSON.parse(stored.value);
  const written = { createdAt: stored?.time, lastObserved: stored?.system.lastObserved };
  return jsonObject(value) ? { ...value, aspectVersion, ...written } : null;
}

/** All columns without `count`. */
function columns(
  { fields }: JsonObject,
  { start, count }: { start?: Maybe<number>; count?: Maybe<number> },
) {
  const all = objectsIn(fields);
  const page = pageOf({ start, count: count ?? 0 });
  return all.slice(page.start, count == null ? all.length : page.start + page.count);
}

/** By type of the schema; those of `Entity` for every entity type that has the field. */
export const entityFields = {
  Entity: { aspects: rawAspects, relationships },
  ServiceAccount: { relationships },
  AccessTokenMetadata: { relationships },
  VersionedDataset: { relationships },
  Dataset: { schemaMetadata, schema: schemaMetadata },
  GlossaryTerm: { schemaMetadata },
  SchemaMetadata: { fields: columns },
  DataJob: { runs: jobRuns },
};
