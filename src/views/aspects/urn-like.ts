/**
 * SQL's LIKE for urns, equal in every store: `%` matches any text, `_` one character, everything else
 * itself. It is case-sensitive and has no escapes.
 *
 * Stores differ in case and escapes, and their matchers take exponential time for a pattern like
 * `%a%a%a%b`. This matcher compares each pair of characters at most once.
 */
export interface UrnPattern {
  /** Common prefix of all matching urns. */
  readonly prefix: string;
  matches(urn: string): boolean;
}

export function createUrnPattern(like: string): UrnPattern {
  const wildcard = like.search(/[%_]/);
  const pattern = [...like.replace(/%+/g, "%")];
  return {
    prefix: wildcard < 0 ? like : like.slice(0, wildcard),
    matches: (urn) => matches(pattern, [...urn]),
  };
}

/** Greedy: after a mismatch, the last `%` takes one character more; earlier ones never need to. */
function matches(pattern: readonly string[], text: readonly string[]): boolean {
  let p = 0;
  let percent = -1;
  let resume = 0;
  for (let t = 0; t < text.length; ) {
    const expected = pattern[p];
    if (expected === "%") {
      percent = p++;
      resume = t;
    } else if (expected === "_" || (expected !== undefined && expected === text[t])) {
      p++;
      t++;
    } else if (percent >= 0) {
      p = percent + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === "%") p++;
  return p === pattern.length;
}
