/** Values as JSON.parse makes them; what is in them is checked by the model, not by the compiler. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const jsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A replacer of JSON.stringify that sorts members: {b, a} and {a, b} have the same text. */
export const sortedMembers = (_key: string, value: unknown): unknown =>
  jsonObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The object; an empty one for any other value. */
export const objectOf = (value: unknown): JsonObject => (jsonObject(value) ? value : {});

/** The objects of a list; empty for any other value. */
export const objectsIn = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(jsonObject) : [];

/** The strings of a list; empty for any other value. */
export const stringsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

/**
 * The value of a proposal, which is JSON text or the parsed value itself; undefined for invalid JSON,
 * which validation rejects later.
 */
export function parsedValue(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
