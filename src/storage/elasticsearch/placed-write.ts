/** Writes to the indices of a view. */
import type { BulkWrite } from "./bulk.ts";

/** A document and the place (names.ts) that it belongs to. */
export interface PlacedWrite extends Omit<BulkWrite, "alias"> {
  readonly place: string;
}

/** Adds the aliases of the indices to the writes. */
export function* aliased(writes: readonly PlacedWrite[], aliases: ReadonlyMap<string, string>) {
  for (const write of writes) yield { ...write, alias: aliases.get(write.place) ?? "" };
}
