/**
 * Keeps a version set in step with its versions, as DataHub's VersionPropertiesSideEffect does: a
 * write of `versionProperties` with the greatest sort id of its set becomes the set's latest version.
 * The request then also writes `versionSetProperties` of the set and `isLatest: false` of the version
 * before. A request that writes `versionSetProperties` itself is left unchanged.
 */
import { isDeepStrictEqual } from "node:util";
import { currentAspect } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { applyPatch, type PatchRules, parsePatch } from "../../core/patch/patch.ts";
import { VERSIONING_SCHEME } from "../../core/rules/reference-rules.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { type JsonObject, jsonObject, parsedValue } from "../../lib/json.ts";
import type { Proposal } from "../catalog.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { Ingestion } from "../write/ingest.ts";

interface Dependencies {
  readonly ingestion: Ingestion;
  readonly states: Pick<EntityCache, "read">;
  readonly namespace: string;
  readonly patchRules: PatchRules;
}

const VERSION = "versionProperties";
const SET = "versionSetProperties";
/** Of several concurrent versions of a set, each attempt lets one win. */
const attemptsMax = 50;

/** A version as a proposal writes it. */
interface Version {
  readonly urn: string;
  readonly set: string;
  readonly sortId: string;
  readonly value: JsonObject;
}

/** A version set as the request has left it so far. */
interface VersionSet {
  /** Urn and sort id of the latest version; undefined: the set has none. */
  latest: { readonly urn: string; readonly sortId: string | undefined } | undefined;
  /** Version of the stored `versionSetProperties`; -1 when there is none. */
  readonly storedVersion: number;
  /** Urn of the stored latest version. It loses its flag when the request has a later one. */
  readonly storedLatest: string | undefined;
  scheme: unknown;
  changed: boolean;
}

export function withVersionSets(dependencies: Dependencies): Ingestion {
  const { ingestion, states, namespace, patchRules } = dependencies;

  async function storedIn(urn: string, aspect: string) {
    const [state] = await states.read([urn]);
    const found = state && currentAspect(state, aspect);
    return found && { version: found.version, value: JSON.parse(found.value) as JsonObject };
  }

  async function readSet(urn: string): Promise<VersionSet> {
    const stored = await storedIn(urn, SET);
    const latest = stored && String(stored.value.latest);
    const version = latest === undefined ? undefined : await storedIn(latest, VERSION);
    const sortId = version?.value.versionSet === urn ? String(version.value.sortId) : undefined;
    return {
      latest: latest === undefined ? undefined : { urn: latest, sortId },
      storedVersion: stored?.version ?? -1,
      storedLatest: sortId === undefined ? undefined : latest,
      scheme: stored?.value.versioningScheme,
      changed: false,
    };
  }

  /** The `versionProperties` that a proposal results in; undefined if it cannot be determined. */
  async function writtenValue(proposal: Proposal): Promise<unknown> {
    const { entityUrn, aspect, changeType } = proposal;
    if (!writesVersion(proposal) || typeof entityUrn !== "string") return undefined;
    if (changeType !== "PATCH") return parsedValue(aspect?.value);
    try {
      const stored = await storedIn(withNamespace(entityUrn, namespace), VERSION);
      const patch = parsePatch(parsedValue(aspect?.value), patchRules, VERSION);
      return applyPatch(stored?.value, patch, { time: 0, actor: "" });
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      return undefined; // An invalid patch, which the ingestion rejects.
    }
  }

  /** Makes a version the latest of its set, as far as the request has come, if its sort id is the greatest. */
  async function place(
    { urn, set: setUrn, sortId, value }: Version,
    sets: Map<string, VersionSet>,
  ) {
    const set = sets.get(setUrn) ?? (await readSet(setUrn));
    sets.set(setUrn, set);
    const { latest } = set;
    const isLater = latest?.sortId === undefined || latest.urn === urn || sortId > latest.sortId;
    if (!isLater) return;
    set.changed ||= latest?.urn !== urn;
    set.latest = { urn, sortId };
    set.scheme = value.versioningScheme ?? VERSIONING_SCHEME;
  }

  /** The proposals with `isLatest`, followed by proposals that update their version sets. */
  async function expanded(proposals: readonly Proposal[]): Promise<readonly Proposal[]> {
    const sets = new Map<string, VersionSet>();
    const versions: (Version | undefined)[] = [];
    for (const proposal of proposals) {
      const version = versionOf(proposal, await writtenValue(proposal), namespace);
      versions.push(version);
      if (version !== undefined) await place(version, sets);
    }
    const flagged = proposals.flatMap((proposal, n) => {
      const version = versions[n];
      if (version === undefined) return [proposal];
      return withFlag(proposal, version, sets.get(version.set)?.latest?.urn === version.urn);
    });
    return [...flagged, ...[...sets].flatMap(changesOf)];
  }

  return {
    ...ingestion,
    async ingest(proposals, caller, request = proposals) {
      if (!concernsVersions(proposals)) {
        return ingestion.ingest(proposals, caller, request);
      }
      let written = await expanded(proposals);
      for (let attempt = 1; ; attempt++) {
        try {
          return await ingestion.ingest(written, caller, request);
        } catch (error) {
          if (!(error instanceof CatalogError) || attempt === attemptsMax) throw error;
          // Another version may have become the latest between reading the set and writing.
          const again = await expanded(proposals);
          if (isDeepStrictEqual(again, written)) throw error;
          written = again;
        }
      }
    },
  };
}

const writesVersion = ({ aspectName, changeType }: Proposal): boolean =>
  aspectName === VERSION && changeType !== "DELETE";

const concernsVersions = (proposals: readonly Proposal[]): boolean =>
  proposals.some(writesVersion) && !proposals.some(({ aspectName }) => aspectName === SET);

/** The version that a proposal writes; undefined if the value is not a version. */
function versionOf(
  { entityUrn }: Proposal,
  value: unknown,
  namespace: string,
): Version | undefined {
  if (typeof entityUrn !== "string" || !jsonObject(value)) return undefined;
  const { versionSet, sortId } = value;
  if (typeof versionSet !== "string" || typeof sortId !== "string") return undefined;
  const set = withNamespace(versionSet, namespace);
  if (entityTypeOf(set) !== "versionSet") return undefined;
  return { urn: withNamespace(entityUrn, namespace), set, sortId, value };
}

/** The proposal with `isLatest`; a patch gets a second one beside it where the value has another flag. */
function withFlag(
  proposal: Proposal,
  { urn, value }: Version,
  isLatest: boolean,
): readonly Proposal[] {
  if (proposal.changeType === "PATCH") {
    return value.isLatest === isLatest ? [proposal] : [proposal, flagOf(urn, isLatest)];
  }
  return [{ ...proposal, entityUrn: urn, aspect: { value: { ...value, isLatest } } }];
}

function changesOf([urn, set]: readonly [string, VersionSet]): readonly Proposal[] {
  const { latest, storedLatest, storedVersion, scheme, changed } = set;
  if (!changed || latest === undefined) return [];
  const properties: Proposal = {
    entityType: "versionSet",
    entityUrn: urn,
    changeType: "UPSERT",
    aspectName: SET,
    aspect: { value: { latest: latest.urn, versioningScheme: scheme } },
    headers: { "If-Version-Match": String(storedVersion) },
  };
  if (storedLatest === undefined || storedLatest === latest.urn) return [properties];
  return [properties, flagOf(storedLatest, false)];
}

const flagOf = (urn: string, isLatest: boolean): Proposal => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: "PATCH",
  aspectName: VERSION,
  aspect: { value: JSON.stringify([{ op: "add", path: "/isLatest", value: isLatest }]) },
});
