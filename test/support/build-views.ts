/** Builds views from the first record to the head of a log that stands still. */
import type { ChangeLog } from "../../src/log/change-log.ts";
import { buildStaging, type StagingParts } from "../../src/projector/rebuild/staging.ts";

/** Returns what is parked. Closes the views. */
export function buildViews(
  parts: Pick<StagingParts, "views" | "decode"> &
    Partial<Pick<StagingParts, "notes" | "batchMax" | "onProgress">> & {
      readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
    },
) {
  return buildStaging({
    notes: { load: async () => [] },
    onProgress: () => {},
    onNear: () => parts.log.head(),
    signal: new AbortController().signal,
    ...parts,
  });
}
