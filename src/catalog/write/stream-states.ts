/** Folds entity states from their streams in the log, without waiting for the aspect view. */
import type { EntityState } from "../../core/entity-state.ts";
import { foldEntity } from "../../core/fold-entity.ts";
import { entityStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { recordsOf } from "../../log/whole-reads.ts";

export const createStreamStates =
  (
    log: Pick<ChangeLog, "readStream">,
    keyAspectOf: (entityType: string) => string | undefined,
  ): ((urn: string) => Promise<EntityState>) =>
  async (urn) => {
    const fold = foldEntity(urn, keyAspectOf);
    for await (const record of recordsOf(log, entityStream(urn))) {
      const change = decodeRecord(record);
      if (change !== undefined) fold.add(change);
    }
    return fold.state();
  };
