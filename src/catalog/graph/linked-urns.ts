/** Urns whose edges a request reads: of entities, or only named by aspects of others. */
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import type { CatalogError } from "../../core/errors.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../../core/urn.ts";
import { faultOfParts, keyValue } from "../../model/entity-key.ts";
import type { Model } from "../../model/model.ts";
import { inTimeSlices } from "../time-slices.ts";

/** Aspects may name longer urns than entities may have. */
const linkedLimits: UrnLimits = { bytesMax: 65_536, schemaFieldBytesMax: 65_536 };

interface Dependencies {
  readonly model: Pick<Model, "entities">;
  readonly namespace: string;
  readonly states: { read(urns: readonly string[]): Promise<readonly EntityState[]> };
}

interface LinkedUrns {
  /**
   * The urns in the namespace. Throws `malformed` or `invalid` for a urn that no entity of its type can
   * have. An older entity with a comma in its name keeps its edges.
   */
  all(texts: readonly string[], limits?: UrnLimits): Promise<readonly string[]>;
  one(text: string, limits?: UrnLimits): Promise<string>;
}

export function createLinkedUrns({ model, namespace, states }: Dependencies): LinkedUrns {
  /** The urn, and the error that only an older entity does not get. */
  function read(
    text: string,
    limits: UrnLimits,
  ): { readonly urn: string; readonly fault?: CatalogError | undefined } {
    const urn = withNamespace(text, namespace);
    const entity = model.entities.get(parseUrn(urn, limits).entityType);
    if (entity === undefined) return { urn };
    return { urn, fault: faultOfParts(entity, keyValue(entity, urn), urn) };
  }

  async function rejectMissing(urn: string, fault: CatalogError): Promise<void> {
    const [state] = await states.read([urn]);
    const keyAspect = model.entities.get(parseUrn(urn, linkedLimits).entityType)?.keyAspect ?? "";
    if (state === undefined || currentAspect(state, keyAspect) === undefined) throw fault;
  }

  return {
    async all(texts, limits = linkedLimits) {
      const found = await inTimeSlices(texts, (text) => read(text, limits));
      for (const { urn, fault } of found) if (fault !== undefined) await rejectMissing(urn, fault);
      return found.map(({ urn }) => urn);
    },

    async one(text, limits = linkedLimits) {
      const { urn, fault } = read(text, limits);
      if (fault !== undefined) await rejectMissing(urn, fault);
      return urn;
    },
  };
}
