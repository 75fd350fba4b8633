/** Batches of entities, each compared with some of the views. */
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/record-codec.ts";
import type { Batch } from "./hands.ts";
import { createVerifier, type VerifiedEntities, type Verifier } from "./verify-entities.ts";
import type { VerifiedView } from "./view-rows.ts";

export function createVerifying(
  log: ChangeLog,
  views: readonly VerifiedView[],
): (batch: Batch) => Promise<VerifiedEntities> {
  const verifiers = new Map<string, Verifier>();
  return ({ views: names, entities, sizesAt }) => {
    const key = names.join();
    let verifier = verifiers.get(key);
    if (verifier === undefined) {
      const some = views.filter(({ name }) => names.includes(name));
      verifier = createVerifier({ log, decode: decodeRecord, views: some });
      verifiers.set(key, verifier);
    }
    return verifier.verify(entities, sizesAt);
  };
}
