/**
 * Compares a response with a recorded one: it contains everything recorded, and may contain more.
 * Values that differ between runs (times, traces, runs) are not compared.
 */

/** Members whose values belong to one run of one server. */
const OF_THE_RUN = new Set([
  "time",
  "lastObserved",
  "timestamp",
  "stackTrace",
  "properties",
  "runId",
  "lastRunId",
  "message",
]);

/** Paths (`/a/0/b`) at which `actual` misses or changes a part of `expected`. */
export function missingFrom(expected: unknown, actual: unknown, path = ""): readonly string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${path}: expected a list, found ${show(actual)}`];
    if (actual.length !== expected.length) {
      return [`${path}: expected ${expected.length} members, found ${actual.length}`];
    }
    return expected.flatMap((item, i) => missingFrom(item, actual[i], `${path}/${i}`));
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null) {
      return [`${path}: expected an object, found ${show(actual)}`];
    }
    return Object.entries(expected).flatMap(([name, value]) =>
      OF_THE_RUN.has(name)
        ? []
        : missingFrom(value, (actual as Record<string, unknown>)[name], `${path}/${name}`),
    );
  }
  const inner = innerJson(expected);
  if (inner !== undefined) return missingFrom(inner, innerJson(actual), `${path} (JSON text)`);
  return Object.is(expected, actual)
    ? []
    : [`${path}: expected ${show(expected)}, found ${show(actual)}`];
}

/** Texts that contain a JSON object are compared as objects. */
function innerJson(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("{")) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 120) ?? "nothing";
