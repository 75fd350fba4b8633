/** Parts of a query that its language does not read as their author meant them. */

interface Problems {
  /** In words. */
  readonly found: readonly string[];
  /** Names before a colon: fields, if the catalog has them. */
  readonly fields: readonly string[];
}

/** A quoted text, an escaped character, a bracket, or a run of other characters. */
const PART = /"(?:\\.|[^"\\])*"?|\\.|[()]|(?:\\.|[^\s()"])+/gsu;
const FIELD = /^[-+!]?([A-Za-z_][\w.]*):(.?)/su;
const OPERATOR = /^(?:AND|OR|NOT|&&|\|\|?)$/;

/** Before a colon, these begin urns and links. */
const prefixes: ReadonlySet<string> = new Set(["urn", "http", "https", "_exists_"]);

export function problemsOf(query: string): Problems {
  const parts = query.match(PART) ?? [];
  const found: string[] = [];
  const fields = new Set<string>();
  let open = 0;
  for (const [n, part] of parts.entries()) {
    const quoted = part.startsWith('"');
    if (quoted && (part.length === 1 || !part.endsWith('"'))) found.push("A quote is not closed.");
    if (part === "(") open++;
    if (part === ")" && --open < 0) found.push("A bracket is closed that was not opened.");
    if (part === ")") open = Math.max(0, open);
    const [, field, value] = FIELD.exec(part) ?? [];
    if (field !== undefined && !prefixes.has(field)) {
      fields.add(field);
      const next = parts[n + 1];
      if (value === "" && (next === undefined || next === ")")) {
        found.push(`${field}: has no value.`);
      }
      if (/^[[{]/.test(value ?? "") && !/[\]}]/.test(parts.slice(n).join(" "))) {
        found.push(`The range of ${field} is not closed.`);
      }
    }
    const last = n === parts.length - 1 || parts[n + 1] === ")";
    if (OPERATOR.test(part) && last) found.push(`Nothing follows ${part}.`);
  }
  if (open > 0) found.push("A bracket is not closed.");
  return { found: [...new Set(found)], fields: [...fields] };
}
