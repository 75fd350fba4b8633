/** The privileges that a mutation requires in place of those for the aspects that it writes. */

/** A member of callers (catalog/write/writes.ts); never in a client's request. */
export const REQUIRED: unique symbol = Symbol("required");

/** Any of the lists of privileges, on each of the entities; without entities, platform privileges. */
export interface RequiredPrivileges {
  readonly privileges: readonly (readonly string[])[];
  readonly urns: readonly string[];
}
