/**
 * Branded numbers, which the compiler keeps distinct.
 *
 * Position: of a record in the whole log; 0 is before the first record.
 * Revision: of a record in its stream; the first has 0, an empty stream is at -1.
 * Version (a plain number): of a value of an aspect, from 1; 0 requests the latest.
 */
declare const brand: unique symbol;

export type Position = number & { readonly [brand]: "position" };
export type Revision = number & { readonly [brand]: "revision" };

export const START = 0 as Position;
export const EMPTY_STREAM = -1 as Revision;

export const position = (n: number): Position => n as Position;
export const revision = (n: number): Revision => n as Revision;

/** The highest position; START for an empty list. */
export function lastOf(places: readonly { readonly position: Position }[]): Position {
  let last = START;
  for (const { position } of places) if (position > last) last = position;
  return last;
}
