/** Builds views from a log that gets no writes, from the first record to the head. */
import type { ChangeLog } from "../../src/log/change-log.ts";
import { buildStaging, type StagingParts } from "../../src/projector/rebuild/staging.ts";

/** Returns the parked entries. Closes the views. */
export function buildViews(
  parts: Pick<StagingParts, "views" | "decode"> &
    Partial<Pick<StagingParts, "parkingStore" | "batchMax" | "onProgress">> & {
      readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
    },
) {
  return buildStaging({
    parkingStore: { load: async () => [] },
    onProgress: () => {},
    onNear: () => parts.log.head(),
    signal: new AbortController().signal,
    ...parts,
  });
}
