/** Assertions about the arguments of a change log's functions, the same in every adapter. */
import { assert } from "../core/errors.ts";
import { EMPTY_STREAM } from "../core/position.ts";
import type { Append } from "./change-log.ts";

const ID_BYTES = 16;

export function checkAppend({ stream, expected, records, id }: Append): void {
  const isRevision = Number.isSafeInteger(expected) && Number(expected) >= EMPTY_STREAM;
  assert(stream.isWellFormed(), "a stream's name is whole characters");
  assert(expected === "any" || isRevision, `not a revision: ${expected}`);
  assert(records.length > 0, "an append has records");
  assert(id === undefined || id.length === ID_BYTES, "an append's id has 16 bytes");
}

/** `least`: the smallest position or revision from which a read may begin. */
export function checkRead(from: number | "end", limit: number, least: number): void {
  assert(
    from === "end" || (Number.isSafeInteger(from) && from >= least),
    `not a position or revision: ${from}`,
  );
  assert(Number.isSafeInteger(limit) && limit > 0, `not a limit: ${limit}`);
}
