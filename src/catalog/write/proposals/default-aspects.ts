/**
 * Key and default aspects of entities. A new entity gets them with its first write.
 * `createWriteDefaults` adds them to an entity that lacks defaults because they were deleted or
 * added to the model later.
 */
import type { DefaultAspect } from "../../../core/decide.ts";
import { currentAspect, type EntityState } from "../../../core/entity-state.ts";
import { CatalogError } from "../../../core/errors.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { Address, Addresses } from "../../address.ts";
import type { Proposal } from "../../catalog.ts";
import type { EntityCache } from "../entity-cache.ts";
import type { Ingestion } from "../ingest.ts";
import type { ProposalValidation } from "./validated-proposal.ts";

interface DefaultAspectsParts {
  readonly states: Pick<EntityCache, "read">;
  readonly validation: Pick<ProposalValidation, "defaultAspects">;
}

/** The key and default aspects of an entity without any other aspects. */
export function createDefaultAspects({ states, validation }: DefaultAspectsParts) {
  return async ({ urn, entity, key }: Address): Promise<readonly DefaultAspect[]> => {
    const [platform] = entity.name === "dataset" ? await states.read([String(key.platform)]) : [];
    const info = platform && currentAspect(platform, "dataPlatformInfo")?.value;
    const delimiter = info === undefined ? undefined : JSON.parse(info).datasetNameDelimiter;
    return validation.defaultAspects(entity, urn, () => delimiter);
  };
}

/** Writes missing default aspects as the system actor; returns their number. */
export function createWriteDefaults(
  parts: DefaultAspectsParts & {
    readonly addresses: Addresses;
    readonly ingest: Ingestion["ingest"];
  },
): (urns: readonly string[]) => Promise<number> {
  const { addresses, states, ingest } = parts;
  const given = createDefaultAspects(parts);

  /**
   * Undefined for a type that is no longer in the model, or a urn that is now too long: such an
   * entity stays unchanged.
   */
  function addressOf(urn: string): Address | undefined {
    try {
      return addresses.readable(urn);
    } catch (error) {
      if (error instanceof CatalogError) return undefined;
      throw error;
    }
  }

  async function missingOf(address: Address, state: EntityState): Promise<readonly Proposal[]> {
    const { urn, entity } = address;
    // Default aspects must not create an entity.
    if (currentAspect(state, entity.keyAspect) === undefined) return [];
    return (await given(address))
      .filter(({ aspect }) => currentAspect(state, aspect) === undefined)
      .map(({ aspect, validated: { text: value } }) => ({
        entityType: entity.name,
        entityUrn: urn,
        // A concurrent write by a client wins.
        changeType: "CREATE",
        headers: { "If-None-Match": "*" },
        aspectName: aspect,
        aspect: { value, contentType: "application/json" },
      }));
  }

  return async (urns) => {
    const known = urns.map(addressOf).filter((address) => address !== undefined);
    const current = await states.read(known.map(({ urn }) => urn));
    const missing: Proposal[] = [];
    for (const [i, address] of known.entries()) {
      const state = current[i];
      if (state !== undefined) appendAll(missing, await missingOf(address, state));
    }
    if (missing.length > 0) await ingest(missing, {});
    return missing.length;
  };
}
