/**
 * What the index was asked for again, in memory: the documents of a token or phrase, the tokens that
 * begin with something. It follows every change of a document, so that what is written does not make it
 * void. A list of a million documents out of the index takes a tenth of a second.
 */
import { LRUCache } from "lru-cache";
import { placeOf } from "./found.ts";

export interface RememberedPostings {
  /** Documents of one token or phrase, or of all that begin with one; undefined: not remembered. */
  docs(match: string): Uint32Array | undefined;
  keepDocs(match: string, docs: Uint32Array): void;
  longer(token: string): Longer | undefined;
  keepLonger(token: string, longer: Longer): void;
  /** Whether an earlier question has asked for it: then it is worth reading whole. */
  again(match: string): boolean;
  /** Another question begins. */
  begin(): void;
  readonly empty: boolean;
  /**
   * The document is under these tokens now, in their order; under none when there is no document
   * any more.
   */
  follow(doc: number, tokens: readonly string[]): void;
  clear(): void;
}

export interface Longer {
  /** Not all, when there are more than were asked for; some may not be in use any more. */
  readonly tokens: readonly string[];
  readonly more: boolean;
}

const LISTS_BYTES_MAX = 64 * 1024 * 1024;
/** Each is looked at with every document that changes. */
const LISTS_MAX = 256;
/** Shorter ones of a token are read as quickly; for a phrase or a beginning long ones are gone through. */
const LIST_MIN = 32;
const BEGINNINGS_MAX = 256;
const ASKED_MAX = 2_000;

interface List {
  docs: Uint32Array;
  readonly holds: (tokens: Tokens) => boolean;
  /** Documents that came or went since: whether they are in it. */
  readonly changes: Map<number, boolean>;
}

export function createRememberedPostings(): RememberedPostings {
  const lists = new LRUCache<string, List>({
    max: LISTS_MAX,
    maxSize: LISTS_BYTES_MAX,
    sizeCalculation: ({ docs }) => docs.byteLength + 1_000,
  });
  const beginnings = new LRUCache<string, Longer>({ max: BEGINNINGS_MAX });
  /** By match, the question that asked for it first. */
  const asked = new LRUCache<string, number>({ max: ASKED_MAX });
  let question = 0;

  function followLonger(tokens: readonly string[]): void {
    for (const [token, longer] of beginnings.entries()) {
      if (longer.more) continue;
      const fresh = tokens.filter(
        (one) => one.length > token.length && one.startsWith(token) && !longer.tokens.includes(one),
      );
      if (fresh.length > 0) {
        beginnings.set(token, { tokens: [...longer.tokens, ...new Set(fresh)], more: false });
      }
    }
  }

  return {
    docs(match) {
      const list = lists.get(match);
      if (list === undefined) return undefined;
      if (list.changes.size > 0) {
        list.docs = changed(list.docs, list.changes);
        list.changes.clear();
      }
      return list.docs;
    },
    keepDocs(match, docs) {
      const quick = docs.length < LIST_MIN && !match.includes(" ");
      const holds = quick ? undefined : testOf(match);
      if (holds !== undefined) lists.set(match, { docs, holds, changes: new Map() });
    },
    longer: (token) => beginnings.get(token),
    keepLonger: (token, longer) => beginnings.set(token, longer),
    again(match) {
      const before = asked.get(match);
      if (before === undefined) asked.set(match, question);
      return before !== undefined && before !== question;
    },
    begin() {
      question++;
    },
    get empty() {
      return lists.size === 0 && beginnings.size === 0;
    },
    follow(doc, list) {
      const tokens: Tokens = { set: new Set(list), text: ` ${list.join(" ")} ` };
      for (const { docs, holds, changes } of lists.values()) {
        const within = holds(tokens);
        if (within === (docs[placeOf(docs, doc)] === doc)) changes.delete(doc);
        else changes.set(doc, within);
      }
      followLonger(list);
    },
    clear() {
      lists.clear();
      beginnings.clear();
    },
  };
}

/** The tokens of a document, in two ways. */
interface Tokens {
  readonly set: ReadonlySet<string>;
  /** A space before and behind each. */
  readonly text: string;
}

/** Undefined for what is put together of several. */
function testOf(match: string): List["holds"] | undefined {
  const [, asked, star] = /^"([^"]+)"( \*)?$/.exec(match) ?? [];
  if (asked === undefined) return undefined;
  if (star !== undefined) return ({ text }) => text.includes(` ${asked}`);
  return asked.includes(" ")
    ? ({ text }) => text.includes(` ${asked} `)
    : ({ set }) => set.has(asked);
}

function changed(docs: Uint32Array, changes: ReadonlyMap<number, boolean>): Uint32Array {
  const next = new Uint32Array(docs.length + changes.size);
  let end = 0;
  let taken = 0;
  for (const [doc, within] of [...changes].sort(([a], [b]) => a - b)) {
    const place = placeOf(docs, doc, taken);
    next.set(docs.subarray(taken, place), end);
    end += place - taken;
    taken = docs[place] === doc ? place + 1 : place;
    if (within) next[end++] = doc;
  }
  next.set(docs.subarray(taken), end);
  return next.slice(0, end + docs.length - taken);
}
