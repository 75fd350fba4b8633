/**
 * Parks the values that are left out of documents, durably, before the documents are stored. A
 * crash between the two steps repeats the batch.
 */
import type { FailedValue, ValuePolicy } from "../../core/parked-values.ts";
import type { Position } from "../../core/position.ts";
import type { Parking } from "../parking/parking.ts";

interface ValueParking {
  /** Enables parking; before, a value that cannot be projected fails the write. */
  setParking(parking: Parking): void;
  /**
   * The policy for the write of an entity. The write fails if it has failed values that are not
   * listed.
   */
  policyOf(urn: string): ValuePolicy | undefined;
  /** True if a write failed because of values that are not listed. */
  hasUnlisted(): boolean;
  /**
   * Runs `work`, which stores documents. If one of them has failed values that are not listed, runs
   * `makeAll`, which makes all documents, lists the values that fail at `upTo`, and runs `work`
   * again.
   */
  withListedValues<T>(
    upTo: Position,
    makeAll: () => Promise<void>,
    work: () => Promise<T>,
  ): Promise<T>;
}

export function createValueParking(): ValueParking {
  let parking: Parking | undefined;
  /** By urn: all failed values of entities for which other values are listed. */
  const unlisted = new Map<string, readonly FailedValue[]>();
  let collecting = false;

  async function collect(makeAll: () => Promise<void>): Promise<void> {
    collecting = true;
    try {
      await makeAll();
    } finally {
      collecting = false;
    }
  }

  return {
    setParking(used) {
      parking = used;
    },
    policyOf(urn) {
      const own = parking;
      if (own === undefined) return undefined;
      return {
        omits: (aspect, version) => own.omits(urn, aspect, version),
        reportFailed(failed) {
          if (own.lists(urn, failed)) return;
          unlisted.set(urn, failed);
          if (!collecting) throw new Error(`the parked values of "${urn}" are not listed yet`);
        },
      };
    },
    hasUnlisted: () => unlisted.size > 0,
    async withListedValues(upTo, makeAll, work) {
      for (;;) {
        unlisted.clear();
        try {
          return await work();
        } catch (error) {
          if (parking === undefined || unlisted.size === 0) throw error;
          await collect(makeAll);
          for (const [urn, failed] of unlisted)
            await parking.replaceParkedValues(urn, failed, upTo);
        }
      }
    },
  };
}
