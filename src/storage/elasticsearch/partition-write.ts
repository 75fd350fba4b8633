/** Writes to the indices of a view. */
import type { BulkWrite } from "./bulk.ts";

/** A document and the partition (names.ts) that it belongs to. */
export interface PartitionWrite extends Omit<BulkWrite, "alias"> {
  readonly partition: string;
}

/** Adds the aliases of the indices to the writes. */
export function* aliased(writes: readonly PartitionWrite[], aliases: ReadonlyMap<string, string>) {
  for (const write of writes) yield { ...write, alias: aliases.get(write.partition) ?? "" };
}
