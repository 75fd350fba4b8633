/** Writes records of a file: snapshots and proposals, in batches and in their order. */
import { send } from "./http.ts";
import { at, isObject, type JsonObject } from "./json.ts";

/** Records of one request. */
const batchMax = 200;

/** Writes the records as one run, which can be rolled back. Returns the number of written records. */
export async function ingestRecords(records: readonly unknown[]): Promise<number> {
  const runId = newRunId();
  for (const batch of batchesOf(records)) {
    const systemMetadata = batch.map((record) => ({ runId, ...metadataOf(record) }));
    if (isSnapshot(batch[0])) {
      const entities = batch.map((record) => ({ value: at(record, "proposedSnapshot") }));
      await send("/entities?action=batchIngest", { body: { entities, systemMetadata } });
    } else {
      await send("/aspects?action=ingestProposalBatch", {
        body: {
          proposals: batch.map((record, n) => ({
            ...proposalOf(record),
            systemMetadata: systemMetadata[n],
          })),
        },
      });
    }
  }
  return records.length;
}

/** `annals-2026-11-26T13:38:23Z-8de0`, as the command line names its runs. */
function newRunId(): string {
  const [random = 0] = crypto.getRandomValues(new Uint16Array(1));
  const time = new Date().toISOString().slice(0, 19);
  return `annals-${time}Z-${random.toString(16).padStart(4, "0")}`;
}

/** The system metadata of a record, whose own run id stays. */
function metadataOf(record: unknown): JsonObject {
  const metadata = at(record, "systemMetadata");
  return isObject(metadata) ? metadata : {};
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
function proposalOf(record: unknown): JsonObject {
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
