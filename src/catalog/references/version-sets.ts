/**
 * Keeps version sets in step with their versions, as DataHub's VersionPropertiesSideEffect and its unlinking
 * do. A request that adds, changes, moves or deletes a version also writes `versionSetProperties` of its
 * sets and `isLatest` of the versions concerned (latest-version.ts). The sets get the system metadata of
 * the proposal that causes the change, so that the rollback of a run includes them. A request that writes
 * `versionSetProperties` itself selects the latest version, if it names a version of the set.
 *
 * Requests of this process that change versions run one after another.
 */
import { isDeepStrictEqual } from "node:util";
import { CatalogError } from "../../core/errors.ts";
import { applyPatch, type PatchRules, parsePatch } from "../../core/patch/patch.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { type JsonObject, jsonObject, parsedValue } from "../../lib/json.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Model } from "../../model/model.ts";
import type { GraphReader } from "../../views/graph/graph.ts";
import type { Caller, Proposal } from "../catalog.ts";
import { labelled, labelOf } from "../labels.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { Ingestion } from "../write/ingest.ts";
import { createProposalUrns } from "../write/proposals/proposal-urns.ts";
import {
  createLatestVersions,
  flagOf,
  SET,
  type SetVersion,
  storedVersion,
  VERSION,
  type VersionChange,
  versionChanges,
  versionOf,
} from "./latest-version.ts";
import { createVersionRollback, type VersionRollback } from "./version-rollback.ts";

interface Dependencies {
  readonly ingestion: Ingestion;
  readonly model: Model;
  readonly states: Pick<EntityCache, "read">;
  readonly graph: Pick<GraphReader, "neighbours">;
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
  readonly namespace: string;
  readonly patchRules: PatchRules;
}

export interface VersionSets extends VersionRollback {
  readonly ingestion: Ingestion;
}

/** Of several writers of one log that change a set, each attempt lets one win. */
const attemptsMax = 50;

export function createVersionSets(parts: Dependencies): VersionSets {
  const { ingestion, model, states, namespace, patchRules } = parts;
  const latestVersions = createLatestVersions(parts);
  const { changedSet, readSets } = latestVersions;
  const serially = createConcurrencyLimit(1);
  const urnOf = createProposalUrns(model, namespace);

  function deletesVersion(urn: string, { aspectName }: Proposal): boolean {
    const entity = model.entities.get(entityTypeOf(urn));
    return entity?.aspects.includes(VERSION) === true && aspectName === entity.keyAspect;
  }

  async function readVersions(
    urns: readonly string[],
  ): Promise<ReadonlyMap<string, SetVersion | undefined>> {
    const found = await states.read(urns);
    return new Map(found.map((state) => [state.urn, storedVersion(state, namespace)]));
  }

  /** The aspect after the proposal; `before` if the proposal does not write it. */
  function valueAfter(
    { aspect, aspectName = "", changeType }: Proposal,
    before: JsonObject | undefined,
  ): JsonObject | undefined {
    if (changeType === "DELETE") return undefined;
    const creates = changeType === "CREATE" || changeType === "CREATE_ENTITY";
    if (creates && before !== undefined) return before;
    const sent = parsedValue(aspect?.value);
    if (changeType !== "PATCH") return jsonObject(sent) ? sent : undefined;
    try {
      const patched = applyPatch(before, parsePatch(sent, patchRules, aspectName), {
        time: 0,
        actor: "",
      });
      return jsonObject(patched) ? patched : undefined;
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      return before; // An invalid patch, which the ingestion rejects.
    }
  }

  /** The version after the proposal; `before` if the proposal does not write it. */
  function versionAfter(
    urn: string,
    proposal: Proposal,
    before: SetVersion | undefined,
  ): SetVersion | undefined {
    const value = valueAfter(proposal, before?.value);
    return value === before?.value ? before : versionOf(urn, value, namespace);
  }

  /** The urn of the set whose `versionSetProperties` the proposal writes or deletes. */
  function setUrnOf(proposal: Proposal): string | undefined {
    const { aspectName, changeType } = proposal;
    if (aspectName !== SET && changeType !== "DELETE") return undefined;
    const urn = urnOf(proposal);
    if (urn === undefined || entityTypeOf(urn) !== "versionSet") return undefined;
    const isKey = aspectName === model.entities.get("versionSet")?.keyAspect;
    return aspectName === SET || isKey ? urn : undefined;
  }

  /** The writes of `versionSetProperties` among the proposals, by set. */
  async function writtenSets(
    proposals: readonly Proposal[],
  ): Promise<ReadonlyMap<string, WrittenSet>> {
    const urns = proposals.map(setUrnOf);
    const stored = await readSets([...new Set(urns.filter((urn) => urn !== undefined))]);
    const written = new Map<string, WrittenSet>();
    for (const [n, proposal] of proposals.entries()) {
      const urn = urns[n];
      if (urn === undefined) continue;
      const earlier = written.get(urn);
      const before = earlier === undefined ? stored.get(urn)?.value : earlier.value;
      const value = valueAfter(proposal, before);
      if (value === before) continue;
      const version = stored.get(urn)?.version ?? -1;
      written.set(urn, { value, version, first: earlier?.first ?? n, cause: proposal });
    }
    return written;
  }

  /** The urn of the version that the proposal writes or deletes; undefined if it does neither. */
  function versionUrnOf(proposal: Proposal): string | undefined {
    const writes = proposal.aspectName === VERSION;
    if (!writes && proposal.changeType !== "DELETE") return undefined;
    const urn = urnOf(proposal);
    return urn !== undefined && (writes || deletesVersion(urn, proposal)) ? urn : undefined;
  }

  /** True if the proposals write a version or a set, or delete a version. */
  async function changeVersions(proposals: readonly Proposal[]): Promise<boolean> {
    const deleted = new Set<string>();
    for (const proposal of proposals) {
      if (proposal.changeType !== "DELETE" && setUrnOf(proposal) !== undefined) return true;
      const urn = versionUrnOf(proposal);
      if (urn === undefined) continue;
      if (proposal.changeType !== "DELETE") return true;
      deleted.add(urn);
    }
    if (deleted.size === 0) return false;
    const stored = await readVersions([...deleted]);
    return [...stored.values()].some((version) => version !== undefined);
  }

  /** The proposals with `isLatest`, and with proposals that update their version sets. */
  async function expanded(proposals: readonly Proposal[]): Promise<readonly Proposal[]> {
    const own = proposals.map(versionUrnOf);
    const stored = await readVersions([...new Set(own.filter((urn) => urn !== undefined))]);
    const changes = new Map<string, VersionChange>();
    /** The last proposal that changes a version of the set. */
    const causes = new Map<string, Proposal>();
    const versions = proposals.map((proposal, n) => {
      const urn = own[n];
      if (urn === undefined) return undefined;
      const before = changes.has(urn) ? changes.get(urn)?.after : stored.get(urn);
      const after = versionAfter(urn, proposal, before);
      if (after === before) return undefined;
      changes.set(urn, { urn, before: stored.get(urn), after });
      for (const set of [before?.set, after?.set]) if (set) causes.set(set, proposal);
      return after;
    });
    const sets = await writtenSets(proposals);
    for (const [set, { value, cause }] of sets) {
      if (value === undefined) causes.delete(set);
      else causes.set(set, cause);
    }
    const latest = new Map<string, string | undefined>();
    const all = versionChanges(changes);
    const added: Proposal[] = [];
    for (const [set, { systemMetadata }] of causes) {
      const written = sets.get(set)?.value;
      const changed = await changedSet(set, all, {
        named: written && withNamespace(String(written.latest), namespace),
        rejectRepeated(urn, rejection) {
          const index = own.lastIndexOf(urn);
          const place = { index, count: proposals.length };
          labelled(labelOf(proposals[index] as Proposal, place), () => {
            throw rejection;
          });
        },
      });
      latest.set(set, changed.latest);
      for (const one of changed.properties) added.push({ ...one, systemMetadata });
      appendAll(added, changed.flags);
    }
    const flagged = proposals.flatMap((proposal, n) => {
      const set = sets.get(setUrnOf(proposal) ?? "");
      if (set?.first === n) return [withVersionMatch(proposal, set)];
      const version = versions[n];
      const isWritten = version !== undefined && latest.has(version.set);
      if (!isWritten || proposal.aspectName !== VERSION) return [proposal];
      return withFlag(proposal, version, latest.get(version.set) === version.urn);
    });
    return [...flagged, ...added];
  }

  /** Writes the proposals, and computes them again when another writer changes a set meanwhile. */
  async function writeWith(
    compute: () => Promise<readonly Proposal[]>,
    caller: Caller,
    request?: unknown,
  ): ReturnType<Ingestion["ingest"]> {
    let written = await compute();
    for (let attempt = 1; ; attempt++) {
      try {
        return await ingestion.ingest(written, caller, request);
      } catch (error) {
        if (!(error instanceof CatalogError) || attempt === attemptsMax) throw error;
        const again = await compute();
        if (isDeepStrictEqual(again, written)) throw error;
        written = again;
      }
    }
  }

  return {
    ingestion: {
      ...ingestion,
      async ingest(proposals, caller, request = proposals) {
        if (!(await changeVersions(proposals))) {
          return ingestion.ingest(proposals, caller, request);
        }
        return serially(() => writeWith(() => expanded(proposals), caller, request));
      },
    },

    ...createVersionRollback({ ...parts, writeWith, readVersions, latestVersions, serially }),
  };
}

/** The writes of `versionSetProperties` of one set in a request. */
interface WrittenSet {
  /** `versionSetProperties` after it; undefined: it deletes them. */
  readonly value: JsonObject | undefined;
  /** Version of the stored value; -1 without one. */
  readonly version: number;
  /** Index of the first proposal. */
  readonly first: number;
  /** The last proposal. */
  readonly cause: Proposal;
}

/** The first write of a set is rejected if another writer changed the set since it was read. */
function withVersionMatch(proposal: Proposal, { version }: WrittenSet): Proposal {
  if (proposal.changeType === "CREATE" || proposal.changeType === "DELETE") return proposal;
  const headers = { "If-Version-Match": String(version), ...proposal.headers };
  return { ...proposal, headers };
}

/** The proposal with `isLatest`; a patch gets a second one beside it where the value has another flag. */
function withFlag(proposal: Proposal, version: SetVersion, flag: boolean): readonly Proposal[] {
  const { urn, isLatest, value } = version;
  if (proposal.changeType === "PATCH") {
    if (isLatest === flag) return [proposal];
    return [proposal, flagOf({ ...version, system: proposal.systemMetadata }, flag)];
  }
  return [{ ...proposal, entityUrn: urn, aspect: { value: { ...value, isLatest: flag } } }];
}
