/**
 * The latest version of a version set after changes of its versions, and the proposals that store it: in
 * `versionSetProperties` of the set, and in `isLatest` of its versions.
 */
import type { SystemMetadata } from "../../core/change.ts";
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { DERIVED_HEADER } from "../../core/rollback.ts";
import { VERSIONING_SCHEME } from "../../core/rules/reference-rules.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { GraphReader } from "../../views/graph/graph.ts";
import type { Proposal } from "../catalog.ts";
import { isSoftDeleted } from "../read/soft-deleted.ts";
import type { EntityCache } from "../write/entity-cache.ts";

export const VERSION = "versionProperties";
export const SET = "versionSetProperties";
const RELATIONSHIP = "VersionOf";
/** Number of versions of a set in a page. */
const pageMax = 1_000;

/** A version of a set: an entity with `versionProperties`. */
export interface SetVersion {
  readonly urn: string;
  readonly set: string;
  readonly sortId: string;
  readonly label: unknown;
  readonly isLatest: boolean | undefined;
  readonly value: JsonObject;
  /** System metadata of a stored version. */
  readonly system?: Partial<SystemMetadata> | undefined;
}

/** The version of one entity before and after a write. */
export interface VersionChange {
  readonly urn: string;
  readonly before: SetVersion | undefined;
  readonly after: SetVersion | undefined;
}

/** The changes of a write. */
export interface VersionChanges {
  find(urn: string): VersionChange | undefined;
  /** The changes of versions that are in the set, or were in it before. */
  of(set: string): readonly VersionChange[];
}

/** By urn. */
export function versionChanges(changes: ReadonlyMap<string, VersionChange>): VersionChanges {
  const bySet = new Map<string, VersionChange[]>();
  for (const change of changes.values()) {
    for (const set of new Set([change.before?.set, change.after?.set])) {
      if (set === undefined) continue;
      const own = bySet.get(set);
      if (own === undefined) bySet.set(set, [change]);
      else own.push(change);
    }
  }
  return { find: (urn) => changes.get(urn), of: (set) => bySet.get(set) ?? [] };
}

/** A version set after changes. */
interface ChangedSet {
  /** Urn of the latest version; undefined: the set has no version left. */
  readonly latest: string | undefined;
  /** Proposals that store it in the set. */
  readonly properties: readonly Proposal[];
  /** Proposals that store it in versions, without those that the changes write. */
  readonly flags: readonly Proposal[];
}

interface Dependencies {
  readonly states: Pick<EntityCache, "read">;
  readonly graph: Pick<GraphReader, "neighbours">;
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
  readonly namespace: string;
}

/** Undefined if the value is not a version. */
export function versionOf(urn: string, value: unknown, namespace: string): SetVersion | undefined {
  if (!jsonObject(value)) return undefined;
  const { versionSet, sortId, version, isLatest } = value;
  if (typeof versionSet !== "string" || typeof sortId !== "string") return undefined;
  const set = withNamespace(versionSet, namespace);
  if (entityTypeOf(set) !== "versionSet") return undefined;
  const label = jsonObject(version) ? version.versionTag : undefined;
  const flag = typeof isLatest === "boolean" ? isLatest : undefined;
  return { urn, set, sortId, label, isLatest: flag, value };
}

export const storedVersion = (state: EntityState, namespace: string): SetVersion | undefined => {
  const stored = currentAspect(state, VERSION);
  const version = stored && versionOf(state.urn, JSON.parse(stored.value), namespace);
  return version && { ...version, system: stored?.system };
};

export type LatestVersions = ReturnType<typeof createLatestVersions>;

export function createLatestVersions({ states, graph, caughtUp, namespace }: Dependencies) {
  /** The stored `versionSetProperties` of sets, by urn. */
  async function readSets(urns: readonly string[]): Promise<ReadonlyMap<string, StoredSet>> {
    const sets = new Map<string, StoredSet>();
    for (const state of await states.read(urns)) {
      const found = currentAspect(state, SET);
      if (found === undefined) continue;
      sets.set(state.urn, { version: found.version, value: JSON.parse(found.value) });
    }
    return sets;
  }

  /** All versions of a set by urn, with the changes. */
  async function membersAfter(
    set: string,
    changes: readonly VersionChange[],
  ): Promise<ReadonlyMap<string, Member>> {
    await caughtUp();
    const members = new Map<string, Member>();
    for (let start = 0; ; start += pageMax) {
      const query = { urn: set, direction: "INCOMING", types: [RELATIONSHIP] } as const;
      const page = await graph.neighbours({ ...query, start, count: pageMax });
      for (const state of await states.read(page.neighbours.map(({ urn }) => urn))) {
        const version = storedVersion(state, namespace);
        if (version?.set !== set) continue;
        members.set(state.urn, { version, isSoftDeleted: isSoftDeleted(state) });
      }
      if (start + pageMax >= page.total) break;
    }
    for (const { urn, after } of changes) {
      const before = members.get(urn);
      if (after?.set !== set) members.delete(urn);
      else members.set(urn, { version: after, isSoftDeleted: before?.isSoftDeleted ?? false });
    }
    return members;
  }

  /** The version of an entity after the changes, if it is in the set. */
  async function memberAfter(urn: string, set: string, change: VersionChange | undefined) {
    const [state] = change === undefined ? await states.read([urn]) : [];
    const version = change === undefined ? state && storedVersion(state, namespace) : change.after;
    return version?.set === set ? version : undefined;
  }

  /** Urns of changed versions with a new sort id or label that another version of the set has. */
  async function repeatedIn(set: string, changes: VersionChanges): Promise<readonly string[]> {
    const own = changes.of(set);
    const joining = own.flatMap((one) => newIn(set, one));
    if (joining.length === 0) return [];
    return repeatedAmong(joining, await membersAfter(set, own)).map(({ urn }) => urn);
  }

  /**
   * The version that `named` names is the latest. Else a greater sort id becomes the latest version, and
   * when the latest version leaves the set, or its sort id becomes smaller, or `named` is no version of
   * the set, the greatest sort id of all versions that are not soft-deleted.
   */
  async function changedSet(
    set: string,
    changes: VersionChanges,
    { named, isReread = false, rejectRepeated }: ChangeOptions = {},
  ): Promise<ChangedSet> {
    const own = changes.of(set);
    const stored = (await readSets([set])).get(set);
    const before = stored && String(stored.value.latest);
    const former =
      before === undefined ? undefined : await memberAfter(before, set, changes.find(before));
    const kept = named === undefined ? former : await memberAfter(named, set, changes.find(named));
    const joining = rejectRepeated === undefined ? [] : own.flatMap((one) => newIn(set, one));
    const isOpen = named === undefined;
    const leaves = !kept || (isOpen && (isSmaller(kept, changes) || (isReread && lost(set, own))));
    const isWhole = leaves || stored === undefined || joining.length > 0 || isReread;
    const members = isWhole ? await membersAfter(set, own) : undefined;
    for (const { urn, rejection } of repeatedAmong(joining, members)) {
      rejectRepeated?.(urn, rejection);
    }
    const after = own.flatMap((one) => (one.after?.set === set ? [one.after] : []));
    const latest =
      named !== undefined && kept
        ? kept
        : latestOf([
            ...(kept ? [kept] : []),
            ...after,
            ...(leaves ? [...(members?.values() ?? [])].flatMap(visibleOf) : []),
          ]);
    const flaggedBefore = [...(members?.values() ?? [])].flatMap(({ version }) =>
      version.isLatest === true ? [version] : [],
    );
    const flags = distinct([...flaggedBefore, former, latest]).flatMap((version) => {
      const flag = version.urn === latest?.urn;
      const isOpen = changes.find(version.urn) === undefined && version.isLatest !== flag;
      return isOpen ? [flagOf(version, flag)] : [];
    });
    const properties =
      named === undefined ? propertiesOf(set, stored, latest) : renamed(set, named, latest);
    return { latest: latest?.urn, properties, flags };
  }

  return { changedSet, readSets, repeatedIn };
}

interface ChangeOptions {
  /** The latest version that the request itself writes to the set. */
  readonly named?: string | undefined;
  /** Corrects the flags of all versions, also of those that the changes do not concern. */
  readonly isReread?: boolean;
  /** Called with each new version whose sort id or label another version has. */
  readonly rejectRepeated?: (urn: string, rejection: CatalogError) => void;
}

export interface StoredSet {
  readonly version: number;
  readonly value: JsonObject;
}

interface Member {
  readonly version: SetVersion;
  readonly isSoftDeleted: boolean;
}

const visibleOf = ({ version, isSoftDeleted }: Member): readonly SetVersion[] =>
  isSoftDeleted ? [] : [version];

/** True if the latest version has left the set, or has a smaller sort id. */
const lost = (set: string, changes: readonly VersionChange[]): boolean =>
  changes.some(({ before, after }) => {
    if (before?.set !== set || before.isLatest !== true) return false;
    return after?.set !== set || after.sortId < before.sortId;
  });

const isSmaller = ({ urn, sortId }: SetVersion, changes: VersionChanges): boolean =>
  (changes.find(urn)?.before?.sortId ?? "") > sortId;

/** One version for each urn. */
const distinct = (versions: readonly (SetVersion | undefined)[]): readonly SetVersion[] => [
  ...new Map(versions.flatMap((one) => (one ? [[one.urn, one]] : []))).values(),
];

/** The greatest sort id; of equal ones the first. */
const latestOf = (versions: readonly SetVersion[]): SetVersion | undefined =>
  versions.reduce<SetVersion | undefined>(
    (latest, one) => (latest === undefined || one.sortId > latest.sortId ? one : latest),
    undefined,
  );

/** The version if its sort id or its label is new in the set. */
function newIn(set: string, { before, after }: VersionChange): readonly SetVersion[] {
  if (after?.set !== set) return [];
  const isOld =
    before?.set === set && before.sortId === after.sortId && before.label === after.label;
  return isOld ? [] : [after];
}

/** As in DataHub's VersionPropertiesValidator: sort ids and labels are unique in a set. */
function repeatedAmong(
  joining: readonly SetVersion[],
  members: ReadonlyMap<string, Member> = new Map(),
): readonly { readonly urn: string; readonly rejection: CatalogError }[] {
  const all = [...members.values()].map(({ version }) => version);
  const sortIds = countsOf(all.map(({ sortId }) => sortId));
  const labels = countsOf(all.map(({ label }) => label));
  return joining.flatMap(({ urn, set, sortId, label }) => {
    const isRepeated = (sortIds.get(sortId) ?? 0) > 1;
    if (!isRepeated && (label === undefined || (labels.get(label) ?? 0) <= 1)) return [];
    const [path, name, repeated] = isRepeated
      ? ["/sortId", "sort id", sortId]
      : ["/version/versionTag", "label", label];
    const message = `aspect "${VERSION}", ${path}: Sort Id and Version label must be unique: another version of "${set}" has the ${name} "${repeated}"`;
    const rejection = new CatalogError("invalid", message, {
      hint: "Give each version of a set its own sort id and label",
    });
    return [{ urn, rejection }];
  });
}

function countsOf(values: readonly unknown[]): ReadonlyMap<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The proposal that stores the latest version; none if it is stored. */
function propertiesOf(
  set: string,
  stored: StoredSet | undefined,
  latest: SetVersion | undefined,
): readonly Proposal[] {
  if (stored?.value.latest === latest?.urn) return [];
  const proposal = {
    entityType: "versionSet",
    entityUrn: set,
    aspectName: SET,
    headers: { "If-Version-Match": String(stored?.version ?? -1) },
  };
  if (latest === undefined) return [{ ...proposal, changeType: "DELETE" }];
  const scheme = stored?.value.versioningScheme ?? latest.value.versioningScheme;
  const versioningScheme = scheme ?? VERSIONING_SCHEME;
  const value = { ...stored?.value, latest: latest.urn, versioningScheme };
  return [{ ...proposal, changeType: "UPSERT", aspect: { value } }];
}

/** The proposal that corrects the latest version that the request names; none without versions. */
const renamed = (
  set: string,
  named: string,
  latest: SetVersion | undefined,
): readonly Proposal[] =>
  latest === undefined || latest.urn === named
    ? []
    : [patchOf(set, SET, { path: "/latest", value: latest.urn })];

/** A derived write: it leaves the system metadata of the version unchanged. */
export const flagOf = ({ urn, system }: SetVersion, isLatest: boolean): Proposal => ({
  ...patchOf(urn, VERSION, { path: "/isLatest", value: isLatest }),
  headers: { [DERIVED_HEADER]: VERSION },
  systemMetadata: system,
});

const patchOf = (
  urn: string,
  aspectName: string,
  member: { readonly path: string; readonly value: unknown },
): Proposal => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: "PATCH",
  aspectName,
  aspect: { value: JSON.stringify([{ op: "add", ...member }]) },
});
