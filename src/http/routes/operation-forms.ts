/** What the routes of /operations have in common. */
import { type ErrorCase, type Schema, valueReply } from "../endpoint.ts";

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
  when: "a parameter is missing or mistyped, or a urn does not parse",
};
export const unavailable: ErrorCase = {
  code: "unavailable",
  when: "a view did not come to the end of the log in time, or the log cannot be written now",
};
export const tooManyJobs: ErrorCase = { code: "rate_limited", when: "too many jobs are running" };

export const task = "aB1cdEf2GHIJKLMnoPQr3S:7";
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
