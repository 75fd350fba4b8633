/** Values as JSON.parse makes them; what is in them is checked by the model, not by the compiler. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const jsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
