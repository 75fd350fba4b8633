/**
 * Updates version sets after the rollback of a run. A rollback may restore a sort id or label that
 * another version of the set has meanwhile: such a version keeps the value that it had before.
 */
import { type AspectCommand, isEntityDelete } from "../../core/decide.ts";
import type { Position } from "../../core/position.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Entity } from "../../model/model.ts";
import type { Caller, Proposal } from "../catalog.ts";
import type { Ingestion } from "../write/ingest.ts";
import {
  flagOf,
  type LatestVersions,
  SET,
  type SetVersion,
  VERSION,
  type VersionChange,
  type VersionChanges,
  versionChanges,
} from "./latest-version.ts";

/** An entity of a rollback, and its version before. */
export interface RolledBackVersion {
  readonly urn: string;
  readonly before: SetVersion | undefined;
}

export interface VersionRollback {
  /** The entity's version before the commands; undefined if they change no version and no set. */
  beforeRollback(
    urn: string,
    entity: Entity,
    commands: readonly AspectCommand[],
  ): Promise<RolledBackVersion | undefined>;
  /** Updates the sets of rolled back versions. */
  afterRollback(versions: readonly RolledBackVersion[], caller: Caller): Promise<UpdatedSets>;
}

interface UpdatedSets {
  /** Position of the last record; undefined if nothing was written. */
  readonly position: Position | undefined;
  /** Urns of versions that have their value of before the rollback. */
  readonly kept: readonly string[];
}

interface Parts {
  readonly ingestion: Ingestion;
  readonly readVersions: (
    urns: readonly string[],
  ) => Promise<ReadonlyMap<string, SetVersion | undefined>>;
  readonly latestVersions: LatestVersions;
  /** Writes the proposals, and computes them again when another writer changes a set meanwhile. */
  readonly writeWith: (
    compute: () => Promise<readonly Proposal[]>,
    caller: Caller,
  ) => ReturnType<Ingestion["ingest"]>;
  readonly serially: ConcurrencyLimit;
}

export function createVersionRollback(parts: Parts): VersionRollback {
  const { ingestion, readVersions, latestVersions, writeWith, serially } = parts;
  const { changedSet, repeatedIn } = latestVersions;

  async function changesOf(versions: readonly RolledBackVersion[]): Promise<ChangesByUrn> {
    const after = await readVersions(versions.map(({ urn }) => urn));
    return new Map(
      versions.map(({ urn, before }) => [urn, { urn, before, after: after.get(urn) }]),
    );
  }

  /**
   * Versions whose restored value is not allowed. A version that keeps its value may exclude
   * further ones.
   */
  async function keptAmong(changes: ChangesByUrn): Promise<readonly VersionChange[]> {
    const kept = new Map<string, VersionChange>();
    const left = new Map(changes);
    for (;;) {
      const all = versionChanges(left);
      const repeated: string[] = [];
      for (const set of setsOf([...left.values()])) appendAll(repeated, await repeatedIn(set, all));
      if (repeated.length === 0) return [...kept.values()];
      for (const urn of repeated) {
        const change = left.get(urn) as VersionChange;
        kept.set(urn, change);
        left.set(urn, { ...change, after: change.before });
      }
    }
  }

  /** The proposals for a set whose versions are changed already. */
  async function proposalsFor(set: string, changes: VersionChanges): Promise<readonly Proposal[]> {
    const { latest, properties, flags } = await changedSet(set, changes, { isReread: true });
    const own = changes.of(set).flatMap(({ urn, after }) => {
      if (after?.set !== set || after.isLatest === (urn === latest)) return [];
      return [flagOf(after, urn === latest)];
    });
    return [...properties, ...flags, ...own];
  }

  async function updateSets(
    versions: readonly RolledBackVersion[],
    actor: Caller["actor"],
  ): Promise<UpdatedSets> {
    const kept = await keptAmong(await changesOf(versions));
    let last: Position | undefined;
    for (const one of kept) last = (await ingestion.ingest([keeping(one)], { actor })).position;
    const changes = await changesOf(versions);
    const all = versionChanges(changes);
    const sets = versions.flatMap(({ urn }) => (entityTypeOf(urn) === "versionSet" ? [urn] : []));
    for (const set of new Set([...sets, ...setsOf([...changes.values()])])) {
      const compute = async () => proposalsFor(set, all);
      if ((await compute()).length === 0) continue;
      const { position } = await writeWith(compute, { actor });
      last = position ?? last;
    }
    return { position: last, kept: kept.map(({ urn }) => urn) };
  }

  return {
    async beforeRollback(urn, entity, commands) {
      const isSet = entity.aspects.includes(SET);
      if (!isSet && !entity.aspects.includes(VERSION)) return undefined;
      const writes = commands.some(({ aspect }) => aspect === (isSet ? SET : VERSION));
      const deletes = commands.some((command) => isEntityDelete(command, entity.keyAspect));
      if (!writes && !deletes) return undefined;
      const before = (await readVersions([urn])).get(urn);
      return writes || isSet || before !== undefined ? { urn, before } : undefined;
    },

    afterRollback: (versions, { actor }) => serially(() => updateSets(versions, actor)),
  };
}

type ChangesByUrn = ReadonlyMap<string, VersionChange>;

const setsOf = (changes: readonly VersionChange[]): ReadonlySet<string> =>
  new Set(
    changes
      .flatMap(({ before, after }) => [before?.set, after?.set])
      .filter((set) => set !== undefined),
  );

/** Writes the version of before the rollback again, as a write of its run. */
function keeping({ urn, before }: VersionChange): Proposal {
  const proposal = { entityType: entityTypeOf(urn), entityUrn: urn, aspectName: VERSION };
  if (before === undefined) return { ...proposal, changeType: "DELETE" };
  const { value, system } = before;
  return { ...proposal, changeType: "UPSERT", aspect: { value }, systemMetadata: system };
}
