/**
 * SQL's LIKE for urns, the same in every engine: `%` stands for any text, `_` for one character,
 * everything else for itself; case counts, and nothing escapes.
 *
 * Compared by hand because engines differ in case and escapes, and because their matchers take
 * exponentially long for a pattern like `%a%a%a%b`: this one looks at each pair at most once.
 */
export interface UrnPattern {
  /** What every matching urn begins with. */
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

/** Greedy: on a mismatch, the last `%` takes one character more; earlier ones never need to. */
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
