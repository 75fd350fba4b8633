/**
 * Resolves urns at the catalog's edge: parses them, applies the configured namespace, looks up
 * their entity type in the model and checks their key parts. Every module may trust an Address.
 */
import { CatalogError } from "../core/errors.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../core/urn.ts";
import { boundedCache } from "../lib/bounded-cache.ts";
import { keyValue } from "../model/entity-key.ts";
import { type Entity, type Model, unknownEntityType } from "../model/model.ts";

export interface Address {
  readonly urn: string;
  readonly entity: Entity;
  /** The key aspect's value, derived from the urn. */
  readonly key: Readonly<Record<string, unknown>>;
}

export interface Addresses {
  /** For writing. `invalid` for an entity type that is not in the model. */
  writable(urn: string): Address;
  /** For reading. `not_found` for an entity type that is not in the model. */
  readable(urn: string): Address;
  /** True for a urn of the configured namespace with an entity type of the model. */
  isKnown(urn: string): boolean;
  /**
   * Checks the urn of a new entity. Throws `malformed` for forms that only older entities may have:
   * a comma in a name, a tag as data platform.
   */
  checkNew(urn: string): void;
}

/** Most requests repeat the same urns, so parsed urns are cached. */
const cachedMax = 20_000;

export function createAddresses(
  model: Model,
  options: { readonly namespace: string; readonly limits: UrnLimits },
): Addresses {
  const cache = boundedCache<string, Address>(cachedMax);

  function parse(text: string): Address | { readonly unknownType: string } {
    const found = cache.get(text);
    if (found !== undefined) return found;
    const urn = withNamespace(text, options.namespace);
    const { entityType } = parseUrn(urn, options.limits);
    const entity = model.entities.get(entityType);
    if (entity === undefined) return { unknownType: entityType };
    const address = { urn, entity, key: Object.freeze(keyValue(entity, urn)) };
    cache.set(text, address);
    return address;
  }

  function addressed(text: string, code: "invalid" | "not_found"): Address {
    const address = parse(text);
    if ("entity" in address) return address;
    throw unknownEntityType(model, address.unknownType, code);
  }

  return {
    writable: (text) => addressed(text, "invalid"),
    readable: (text) => addressed(text, "not_found"),
    isKnown(urn) {
      try {
        return addressed(urn, "not_found").urn === urn;
      } catch (error) {
        if (error instanceof CatalogError) return false;
        throw error;
      }
    },
    checkNew(urn) {
      const fault = model.faultOfUrn(urn);
      if (fault === undefined) return;
      throw new CatalogError("malformed", `urn "${urn}" does not fit the model: ${fault}`);
    },
  };
}
