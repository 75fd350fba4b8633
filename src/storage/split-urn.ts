/**
 * Splits a urn after its third colon: urn:li:dataset:(a,b) → urn:li:dataset: and (a,b). A text without a
 * third colon is all rest. Views store each prefix once, because there are few.
 */
export function splitUrn(urn: string): { readonly prefix: string; readonly rest: string } {
  let colon = -1;
  for (let n = 0; n < 3; n++) {
    colon = urn.indexOf(":", colon + 1);
    if (colon < 0) return { prefix: "", rest: urn };
  }
  return { prefix: urn.slice(0, colon + 1), rest: urn.slice(colon + 1) };
}

/** The entity type of a prefix; empty if it has none. */
export const typeOf = (prefix: string): string => prefix.split(":")[2] ?? "";
