/**
 * The state of the log's indexes. A damaged index hides rows without an error, because row checksums (checksum.ts)
 * cover only the rows that an index leads to. So the indexes count as unchecked until a check (index-check.ts) has
 * compared them with the tables, and the log does not use them once they differ.
 *
 * The state is one shared number: all threads of a process that open the log see the same.
 */
import { ownCommand } from "../../../lib/command-hint.ts";
import { LogDamaged } from "../../change-log.ts";

/** A new state. */
const UNCHECKED = 0;
const SOUND = 1;
const DAMAGED = 2;
/** The index of the streams' names is sound, the others are unchecked. */
const NAMES_SOUND = 3;

export interface IndexState {
  /** Shared with the other threads that open the log. */
  readonly shared: SharedArrayBuffer;
  /** True after a check that found no difference. */
  isSound(): boolean;
  /** True after a check that found no difference in the index of the streams' names. */
  hasSoundNames(): boolean;
  /** Throws LogDamaged `unreadable` after a check, or a read, that found a difference. */
  requireUndamaged(): void;
  /** The damage, as a sentence without its full stop; undefined while none is known. */
  damage(): string | undefined;
  /** Marks the indexes as damaged. `finding` is a fragment for messages. */
  mark(finding: string): LogDamaged;
  /** Marks the index of names as equal to its table, if no index is checked yet. */
  setSoundNames(): void;
  /** Marks all indexes as equal to the tables. */
  setSound(): void;
}

export function createIndexState(
  file: string,
  shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
): IndexState {
  const cell = new Int32Array(shared);
  /** The finding of this thread; undefined when another thread found the damage. */
  let found: string | undefined;

  const damage = (): string | undefined => {
    if (Atomics.load(cell, 0) !== DAMAGED) return undefined;
    const detail = found === undefined ? "" : `: ${found}`;
    return `the indexes of the log "${file}" do not match its tables${detail}`;
  };

  return {
    shared,
    isSound: () => Atomics.load(cell, 0) === SOUND,
    hasSoundNames: () => [SOUND, NAMES_SOUND].includes(Atomics.load(cell, 0)),
    damage,
    requireUndamaged() {
      const message = damage();
      if (message !== undefined) throw new LogDamaged("unreadable", message, { hint: REPAIR });
    },
    mark(finding) {
      found = finding;
      Atomics.store(cell, 0, DAMAGED);
      return new LogDamaged("unreadable", damage() ?? finding, { hint: REPAIR });
    },
    setSoundNames: () => void Atomics.compareExchange(cell, 0, UNCHECKED, NAMES_SOUND),
    setSound() {
      found = undefined;
      Atomics.store(cell, 0, SOUND);
    },
  };
}

export const REPAIR = `Stop the service and run: ${ownCommand("check --repair-indexes")}. Where that finds damaged rows, restore the log from a backup`;
