/**
 * urn:li:dataset:(a,b) → urn:li:dataset: and (a,b); what has no third colon is all rest. Views keep
 * the first part, of which there are few, once.
 */
export function splitUrn(urn: string): { readonly prefix: string; readonly rest: string } {
  let colon = -1;
  for (let n = 0; n < 3; n++) {
    colon = urn.indexOf(":", colon + 1);
    if (colon < 0) return { prefix: "", rest: urn };
  }
  return { prefix: urn.slice(0, colon + 1), rest: urn.slice(colon + 1) };
}

/** The entity type of what begins so; empty when it names none. */
export const typeOf = (prefix: string): string => prefix.split(":")[2] ?? "";
