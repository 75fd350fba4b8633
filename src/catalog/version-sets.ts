/**
 * Keeps a version set in step with its versions, as DataHub's VersionPropertiesSideEffect does: a
 * write of `versionProperties` with the greatest sort id of its set becomes the set's latest version.
 * The request then also writes `versionSetProperties` of the set and `isLatest: false` of the version
 * before. A request that writes `versionSetProperties` itself is left unchanged.
 */
import { isDeepStrictEqual } from "node:util";
import { currentAspect } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type JsonObject, jsonObject, parsedValue } from "../core/json.ts";
import { VERSIONING_SCHEME } from "../core/reference-rules.ts";
import { entityTypeOf, withNamespace } from "../core/urn.ts";
import type { Proposal } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import type { Ingestion } from "./ingest.ts";

interface Dependencies {
  readonly ingestion: Ingestion;
  readonly states: Pick<EntityStates, "read">;
  readonly namespace: string;
}

const VERSION = "versionProperties";
const SET = "versionSetProperties";
const attemptsMax = 10;

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

export function withVersionSets({ ingestion, states, namespace }: Dependencies): Ingestion {
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

  /** The proposals with `isLatest`, followed by proposals that update their version sets. */
  async function expanded(proposals: readonly Proposal[]): Promise<readonly Proposal[]> {
    const sets = new Map<string, VersionSet>();
    const decided: Proposal[] = [];
    for (const proposal of proposals) {
      const version = versionIn(proposal, namespace);
      if (version === undefined) {
        decided.push(proposal);
        continue;
      }
      const { urn, set: setUrn, sortId, value } = version;
      const set = sets.get(setUrn) ?? (await readSet(setUrn));
      sets.set(setUrn, set);
      const isLatest =
        set.latest === undefined ||
        set.latest.urn === urn ||
        set.latest.sortId === undefined ||
        sortId > set.latest.sortId;
      if (isLatest) {
        set.changed ||= set.latest?.urn !== urn;
        set.latest = { urn, sortId };
        set.scheme = value.versioningScheme ?? VERSIONING_SCHEME;
      }
      decided.push({ ...proposal, entityUrn: urn, aspect: { value: { ...value, isLatest } } });
    }
    return [...withoutFlags(decided, sets), ...[...sets].flatMap(changesOf)];
  }

  return {
    ...ingestion,
    async ingest(proposals, caller, request = proposals) {
      if (!concernsVersions(proposals, namespace)) {
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

function concernsVersions(proposals: readonly Proposal[], namespace: string): boolean {
  return (
    proposals.some((proposal) => versionIn(proposal, namespace) !== undefined) &&
    !proposals.some(({ aspectName }) => aspectName === SET)
  );
}

/** The version that a proposal writes; undefined unless it writes a whole `versionProperties`. */
function versionIn({ entityUrn, aspectName, changeType, aspect }: Proposal, namespace: string) {
  if (aspectName !== VERSION || changeType === "DELETE" || changeType === "PATCH") return undefined;
  const value = parsedValue(aspect?.value);
  if (typeof entityUrn !== "string" || !jsonObject(value)) return undefined;
  const { versionSet, sortId } = value;
  if (typeof versionSet !== "string" || typeof sortId !== "string") return undefined;
  const set = withNamespace(versionSet, namespace);
  if (entityTypeOf(set) !== "versionSet") return undefined;
  return { urn: withNamespace(entityUrn, namespace), set, sortId, value };
}

/** Clears the flag of versions that a later proposal of the same request replaced as the latest. */
function withoutFlags(
  proposals: readonly Proposal[],
  sets: ReadonlyMap<string, VersionSet>,
): readonly Proposal[] {
  const latest = new Set([...sets.values()].map((set) => set.latest?.urn));
  return proposals.map((proposal) => {
    const value = proposal.aspectName === VERSION ? proposal.aspect?.value : undefined;
    if (!jsonObject(value) || value.isLatest !== true) return proposal;
    return {
      ...proposal,
      aspect: { value: { ...value, isLatest: latest.has(proposal.entityUrn) } },
    };
  });
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
  const flag: Proposal = {
    entityType: entityTypeOf(storedLatest),
    entityUrn: storedLatest,
    changeType: "PATCH",
    aspectName: VERSION,
    aspect: { value: JSON.stringify([{ op: "add", path: "/isLatest", value: false }]) },
  };
  return [properties, flag];
}
