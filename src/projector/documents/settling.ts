/**
 * Lists the values that documents are built without as parked, durably, before the documents are stored:
 * a kill between the two loses nothing, because the batch is applied again.
 */
import type { FailedValue, ValuePolicy } from "../../core/parked-values.ts";
import type { Position } from "../../core/position.ts";
import type { Parking } from "../parking/parking.ts";

export interface Settling {
  /** Before it is called, nothing is parked: a value that cannot be projected ends the write. */
  use(parking: Parking): void;
  /** For the write of an entity; ends it while its failed values are not listed. */
  policyOf(urn: string): ValuePolicy | undefined;
  /** A write was rejected for that reason. */
  isDue(): boolean;
  /**
   * Runs `work`, which stores documents. If one of them has failed values that are not listed, runs
   * `makeAll`, which makes all documents, lists the values that fail at `upTo`, and runs `work` again.
   */
  settled<T>(upTo: Position, makeAll: () => Promise<void>, work: () => Promise<T>): Promise<T>;
}

export function createSettling(): Settling {
  let parking: Parking | undefined;
  /** By urn: all failed values of entities for which other values are listed. */
  const unsettled = new Map<string, readonly FailedValue[]>();
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
    use(used) {
      parking = used;
    },
    policyOf(urn) {
      const own = parking;
      if (own === undefined) return undefined;
      return {
        omits: (aspect, version) => own.omits(urn, aspect, version),
        settle(failed) {
          if (own.lists(urn, failed)) return;
          unsettled.set(urn, failed);
          if (!collecting) throw new Error(`the parked values of "${urn}" are not listed yet`);
        },
      };
    },
    isDue: () => unsettled.size > 0,
    async settled(upTo, makeAll, work) {
      for (;;) {
        unsettled.clear();
        try {
          return await work();
        } catch (error) {
          if (parking === undefined || unsettled.size === 0) throw error;
          await collect(makeAll);
          for (const [urn, failed] of unsettled) await parking.settle(urn, failed, upTo);
        }
      }
    },
  };
}
