/** Parts of urns: namespace, type, key and a readable name. A service may return another namespace than `li`. */

/** Key of the user of writes that name none. */
const systemKey = "__datahub_system";

/** The user with all privileges, who exists in each catalog. */
export const rootUser = "urn:li:corpuser:datahub";

/** `urn:li:dataset:(…)` → `dataset` */
export const typeOf = (urn: string): string => /^urn:[^:]+:([^:]+):/.exec(urn)?.[1] ?? "";

export const isUrn = (text: string): boolean => typeOf(text) !== "";

export const keyOf = (urn: string): string => urn.replace(/^urn:[^:]+:[^:]+:/, "");

/** The parts of a key in brackets, split at the commas of the outer level; one part otherwise. */
export function partsOf(urn: string): readonly string[] {
  const key = keyOf(urn);
  if (!key.startsWith("(") || !key.endsWith(")")) return [key];
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const character of key.slice(1, -1)) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return [...parts, part];
}

/** A name for an entity of which only the urn is known. */
export function nameOfUrn(urn: string): string {
  const parts = partsOf(urn);
  const type = typeOf(urn);
  if (type === "corpuser" && parts[0] === systemKey) return "System";
  if (type === "dataset" || type === "mlModel" || type === "mlModelGroup") {
    return parts[1] ?? urn;
  }
  if (type === "dataFlow") return parts[1] ?? urn;
  const last = parts.at(-1) ?? urn;
  return decoded(isUrn(last) ? nameOfUrn(last) : last);
}

/** The platform that is part of the urn; undefined for other urns. */
export function platformOfUrn(urn: string): string | undefined {
  const [first = ""] = partsOf(urn);
  if (typeOf(first) === "dataPlatform") return first;
  const type = typeOf(urn);
  if (type === "dataFlow" || type === "chart" || type === "dashboard") {
    return first === "" ? undefined : `${/^urn:[^:]+/.exec(urn)?.[0]}:dataPlatform:${first}`;
  }
  if (type === "dataJob") return platformOfUrn(first);
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
