/** Folds entity states from their streams in the log, without waiting for the aspect view. */
import type { EntityState } from "../../core/entity-state.ts";
import { foldEntity } from "../../core/fold-entity.ts";
import { revision } from "../../core/position.ts";
import { entityStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";

/** Records of a stream in memory at a time. */
const pageMax = 500;

export const createStreamStates =
  (
    log: Pick<ChangeLog, "readStream">,
    keyAspectOf: (entityType: string) => string | undefined,
  ): ((urn: string) => Promise<EntityState>) =>
  async (urn) => {
    const fold = foldEntity(urn, keyAspectOf);
    for (let from = 0; ; ) {
      const page = await log.readStream(entityStream(urn), revision(from), { limit: pageMax });
      for (const record of page) {
        const change = decodeRecord(record);
        if (change !== undefined) fold.add(change);
      }
      const last = page.at(-1);
      if (last === undefined) return fold.state();
      from = last.revision + 1;
    }
  };
