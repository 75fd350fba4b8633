/**
 * The values of a column as texts in lower case, some thousands joined into one: to look into a few
 * hundred long texts takes a tenth of the time that it takes to look into a million short ones. What
 * is found so is held against the condition itself, and nothing is missed.
 */
import { fulfils } from "../evaluate.ts";
import type { Condition, FieldValue } from "../search.ts";
import type { Steps } from "./slices.ts";

export type LikeCondition = Extract<Condition, { kind: "like" }>;

export interface ColumnTexts {
  /** Marks the values that fulfil the condition, by their numbers. */
  mark(condition: LikeCondition, marked: Uint8Array): Steps<void>;
  /** About; what they take in memory. */
  bytes(): number;
}

/** Values that are joined. */
const JOINED = 4_096;
/** More texts are looked for in each value at once (text-sets.ts). */
const TEXTS_MAX = 8;
/** Stands before, between and behind them. A value may hold it, too: then more is found than counts. */
const BETWEEN = "\0";

interface Joined {
  readonly text: string;
  /** Where each value begins. */
  readonly starts: Uint32Array;
}

/** `values`: to which others may come behind. */
export function createColumnTexts(values: readonly FieldValue[]): ColumnTexts {
  /** Full ones. */
  const all: Joined[] = [];

  function joinedFrom(first: number): Joined {
    const known = all[first / JOINED];
    if (known !== undefined) return known;
    const joined = join(values.slice(first, first + JOINED));
    if (joined.starts.length === JOINED) all[first / JOINED] = joined;
    return joined;
  }

  return {
    *mark(condition, marked) {
      const wanted = sought(condition);
      for (let first = 0; first < values.length; first += JOINED) {
        if (first > 0) yield;
        if (wanted === undefined) {
          const end = Math.min(first + JOINED, values.length);
          for (let n = first; n < end; n++) if (fulfils(condition, values[n] ?? "")) marked[n] = 1;
          continue;
        }
        const joined = joinedFrom(first);
        for (const text of wanted) {
          for (const place of placesOf(text, joined)) {
            if (fulfils(condition, values[first + place] ?? "")) marked[first + place] = 1;
          }
        }
      }
    },
    bytes: () => all.reduce((sum, { text, starts }) => sum + text.length + starts.byteLength, 0),
  };
}

/** What a joined text has wherever a value fulfils the condition; undefined where that is no help. */
function sought({ how, texts }: LikeCondition): readonly string[] | undefined {
  if (texts.length > TEXTS_MAX || texts.includes("")) return undefined;
  const before = how === "starts" || how === "equals" ? BETWEEN : "";
  const behind = how === "ends" || how === "equals" ? BETWEEN : "";
  return texts.map((text) => `${before}${text.toWellFormed()}${behind}`);
}

function join(values: readonly FieldValue[]): Joined {
  const starts = new Uint32Array(values.length);
  let end = BETWEEN.length;
  const texts = values.map((value, place) => {
    const text = String(value).toWellFormed().toLowerCase();
    starts[place] = end;
    end += text.length + BETWEEN.length;
    return text;
  });
  return { text: BETWEEN + texts.join(BETWEEN) + BETWEEN, starts };
}

/** Places of the values in which the text begins, or before which, each once. */
function* placesOf(wanted: string, { text, starts }: Joined): Generator<number> {
  let at = text.indexOf(wanted);
  while (at >= 0) {
    const place = placeAt(starts, at);
    yield place;
    const next = starts[place + 1];
    if (next === undefined) return;
    at = text.indexOf(wanted, next - BETWEEN.length);
  }
}

/** The value that stands there, or begins behind what stands there. */
function placeAt(starts: Uint32Array, at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] ?? 0) <= at + BETWEEN.length) low = middle;
    else high = middle - 1;
  }
  return low;
}
