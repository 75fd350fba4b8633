/**
 * Urns at the catalog's edge: parsed, given the configured namespace, their type looked up in the
 * model and their key parts checked. What passes here is an address that every room may trust.
 */
import { LRUCache } from "lru-cache";
import { CatalogError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../core/urn.ts";
import { keyValue } from "../model/entity-key.ts";
import type { Entity, Model } from "../model/model.ts";

export interface Address {
  readonly urn: string;
  readonly entity: Entity;
  /** The key aspect's value, as the urn says it. */
  readonly key: Readonly<Record<string, unknown>>;
}

export interface Addresses {
  /** For writing. An entity type that the model has not is `invalid`. */
  writable(urn: string): Address;
  /** For reading. An entity type that the model has not is `not_found`. */
  known(urn: string): Address;
  /** True for a urn of the configured namespace whose entity type the model has. */
  isKnown(urn: string): boolean;
  /**
   * Checks the urn of a new entity. Throws `malformed` for forms that only older entities may have: a
   * comma in a name, a tag as data platform.
   */
  checkNew(urn: string): void;
}

/** Most callers name the same urns again and again: the parsed ones are remembered. */
const rememberedMax = 20_000;

export function createAddresses(
  model: Model,
  options: { readonly namespace: string; readonly limits: UrnLimits },
): Addresses {
  const remembered = new LRUCache<string, Address>({ max: rememberedMax });

  function parse(text: string): Address | { readonly unknownType: string } {
    const found = remembered.get(text);
    if (found !== undefined) return found;
    const urn = withNamespace(text, options.namespace);
    const { entityType } = parseUrn(urn, options.limits);
    const entity = model.entities.get(entityType);
    if (entity === undefined) return { unknownType: entityType };
    const address = { urn, entity, key: Object.freeze(keyValue(entity, urn)) };
    remembered.set(text, address);
    return address;
  }

  function addressed(text: string, code: "invalid" | "not_found"): Address {
    const address = parse(text);
    if ("entity" in address) return address;
    throw unknownEntityType(model, address.unknownType, code);
  }

  return {
    writable: (text) => addressed(text, "invalid"),
    known: (text) => addressed(text, "not_found"),
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

/** "unknown entity type", with the names that come near. */
export function unknownEntityType(
  model: Model,
  name: string,
  code: "invalid" | "not_found",
): CatalogError {
  return new CatalogError(code, `unknown entity type "${name}"`, {
    hint: nearest(name, model.entities.keys()),
  });
}
