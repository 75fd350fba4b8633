/** The response types that a request accepts, by its Accept header (RFC 9110 §12.5.1). */
const USUAL: ReadonlySet<string> = new Set(["*/*", "application/json"]);
const RANGE = /^([\w.+*-]+)\/([\w.+*-]+)$/;
const NONE = /^q=0(?:\.0*)?$/i;

/** True when the header accepts JSON. A malformed header counts as absent. */
export function takesJson(accept: string | undefined): boolean {
  if (accept === undefined || USUAL.has(accept)) return true;
  const ranges = accept.split(",").flatMap((text) => {
    const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
    const [, type, subtype] = RANGE.exec(range) ?? [];
    const taken = !parameters.some((parameter) => NONE.test(parameter));
    return type === undefined || subtype === undefined ? [] : [{ type, subtype, taken }];
  });
  // The most specific range counts: `*/*, application/json;q=0` accepts everything except JSON.
  const own =
    ranges.find(({ type, subtype }) => type === "application" && subtype === "json") ??
    ranges.find(({ subtype }) => subtype.endsWith("json")) ??
    ranges.find(({ type, subtype }) => type === "application" && subtype === "*") ??
    ranges.find(({ type }) => type === "*");
  return ranges.length === 0 || own?.taken === true;
}
