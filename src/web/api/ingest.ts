/** Writes records of a file: snapshots and proposals, in batches and in their order. */
import { send } from "./http.ts";
import { at, isObject, type JsonObject } from "./json.ts";

/** Records of one request. */
const batchMax = 200;

/** Returns the number of written records. */
export async function ingestRecords(records: readonly unknown[]): Promise<number> {
  for (const batch of batchesOf(records)) {
    if (isSnapshot(batch[0])) {
      const entities = batch.map((record) => ({ value: at(record, "proposedSnapshot") }));
      await send("/entities?action=batchIngest", { body: { entities } });
    } else {
      await send("/aspects?action=ingestProposalBatch", {
        body: { proposals: batch.map(proposalOf) },
      });
    }
  }
  return records.length;
}

const isSnapshot = (record: unknown): boolean => at(record, "proposedSnapshot") !== undefined;

/** Neighbours of one kind, so that the order of the file stays. */
export function batchesOf(records: readonly unknown[]): readonly (readonly unknown[])[] {
  const batches: unknown[][] = [];
  for (const record of records) {
    const last = batches.at(-1);
    const joins =
      last !== undefined && last.length < batchMax && isSnapshot(last[0]) === isSnapshot(record);
    if (joins) last.push(record);
    else batches.push([record]);
  }
  return batches;
}

/** A proposal of a file may have its aspect as JSON; the API takes it as text. */
function proposalOf(record: unknown): unknown {
  const proposal: JsonObject = isObject(record) ? record : {};
  const aspect = at(proposal, "aspect");
  const value = at(aspect, "value");
  if (aspect === undefined || typeof value === "string") return proposal;
  const json = at(aspect, "json") ?? value ?? aspect;
  return {
    ...proposal,
    aspect: { contentType: "application/json", value: JSON.stringify(json) },
  };
}
