/** What the routes of /operations have in common. */
import { CatalogError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { type Ask, type Endpoint, type ErrorCase, type Schema, valueReply } from "../endpoint.ts";

export const action = {
  method: "POST",
  kind: "action",
  path: "/operations",
  access: "operator",
} as const;

export const unauthenticated: ErrorCase = {
  code: "unauthenticated",
  when: "the operator's token is not shown",
};
export const malformed: ErrorCase = {
  code: "malformed",
  when: "a parameter is missing, mistyped or none of this operation, or a urn does not parse",
};
export const unavailable: ErrorCase = {
  code: "unavailable",
  when: "a view did not come to the end of the log in time, or the log cannot be written now",
};
export const tooManyJobs: ErrorCase = { code: "rate_limited", when: "too many jobs are running" };

export const text = (description: string): Schema => ({ type: "string", description });
export const flag = (description: string): Schema => ({ type: "boolean", description });
export const count = (description: string, minimum = 0): Schema => ({
  type: "integer",
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/** What a list takes; `max`: of one answer, as people read it. */
export const pageForm = (max: string) => ({
  start: count("How many to leave out. 0 when absent"),
  count: count(`At most so many: 20 when absent, ${max} at most`),
});

/** What a list answers with, beside what is listed. */
export function pageReply(listed: Readonly<Record<string, Schema>>) {
  return valueReply({
    type: "object",
    required: ["start", "count", "total", ...Object.keys(listed)],
    properties: {
      start: { type: "integer" },
      count: { type: "integer", description: "How many are in this answer" },
      total: { type: "integer", description: "How many there are" },
      ...listed,
    },
  });
}

/** What the reference has, too: its clients may send what other releases of it take. */
const ofReference = new Set([
  ...["getEsTaskStatus", "truncateTimeseriesAspect", "restoreIndices", "getIndexSizes"],
  ...["delete", "deleteReferences", "deleteAll", "rollback"],
]);

/**
 * The same row, which refuses parameters that it has not: a misspelt one would be passed over, and
 * something else be done than was asked for, such as a deletion in place of a dry run. Clients of the
 * reference are used to that, so what they send too much to what the reference has is left out.
 */
export function knownParametersOnly(endpoint: Endpoint): Endpoint {
  const { body: form, name, handle } = endpoint;
  if (form?.type !== "object") return endpoint;
  const known = Object.keys(form.properties);
  return {
    ...endpoint,
    handle(ask, backing) {
      const sent = Object.keys(ask.body as object);
      const unknown = sent.find((parameter) => !known.includes(parameter));
      if (unknown === undefined) return handle(ask, backing);
      if (ask.dialect === "reference" && ofReference.has(name)) {
        return handle({ ...ask, body: only(known, ask.body as object) } satisfies Ask, backing);
      }
      throw unrecognized(name, unknown, known);
    },
  };
}

const only = (known: readonly string[], body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([parameter]) => known.includes(parameter)));

/** In the reference's words for members that it does not let pass. */
function unrecognized(action: string, parameter: string, known: readonly string[]): CatalogError {
  const where = `/${parameter.slice(0, 60)}`;
  const near = nearest(parameter, known);
  return new CatalogError(
    "malformed",
    `Parameters of method '${action}' failed validation with error 'ERROR :: ${where} :: unrecognized field found but not allowed'`,
    { hint: near ?? `It takes ${known.length === 0 ? "none" : known.join(", ")}` },
  );
}
