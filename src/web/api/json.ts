/** Reading JSON of unknown shape. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path of own members; undefined where a step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const step of path) {
    if (!isObject(current) || !Object.hasOwn(current, step)) return undefined;
    current = current[step];
  }
  return current;
}

/** The text at a path; undefined for anything else, and for empty texts. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The texts of a list; `member` names the member of its objects that holds the text. */
export const textsAt = (list: readonly unknown[], member?: string): readonly string[] =>
  list.flatMap((one) => {
    const text = member === undefined ? one : at(one, member);
    return typeof text === "string" ? [text] : [];
  });
