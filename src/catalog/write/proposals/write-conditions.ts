/**
 * Parses the conditional headers of a proposal (`If-Version-Match` and others), which are conditions
 * on the current value of the aspect. `core/decide.ts` checks them.
 */
import type { Conditions } from "../../../core/decide.ts";
import { CatalogError } from "../../../core/errors.ts";
import { parseTime } from "../../../lib/calendar.ts";
import type { Proposal, ProposedChange } from "../../catalog.ts";

const HEADERS = {
  versionMatch: "If-Version-Match",
  modifiedSince: "If-Modified-Since",
  unmodifiedSince: "If-Unmodified-Since",
  noneMatch: "If-None-Match",
} as const;

const NONE: Conditions = {};

/**
 * Header names are case-insensitive. Throws `malformed`, or `invalid` if a header is not allowed
 * with the change type.
 */
export function conditionsOf({ headers, changeType }: Proposal): Conditions {
  if (headers === undefined) return NONE;
  const byName = new Map(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
  const header = (name: string) => byName.get(name.toLowerCase());
  if (!Object.values(HEADERS).some((name) => header(name) !== undefined)) return NONE;
  return {
    versionMatch: version(header(HEADERS.versionMatch)),
    modifiedSince: instant(HEADERS.modifiedSince, header(HEADERS.modifiedSince)),
    unmodifiedSince: instant(HEADERS.unmodifiedSince, header(HEADERS.unmodifiedSince)),
    noneMatch: noneMatch(header(HEADERS.noneMatch), changeType),
  };
}

/** Throws `invalid` if a proposal for `what`, which allows no conditions, has any. */
export function rejectConditions({ headers = {} }: Proposal, what: string): void {
  const known = Object.values(HEADERS).map((name) => name.toLowerCase());
  const name = Object.keys(headers).find((header) => known.includes(header.toLowerCase()));
  if (name === undefined) return;
  throw new CatalogError("invalid", `header ${name} is not allowed with ${what}`, {
    hint: "Each value is a separate event; omit the header",
  });
}

function noneMatch(text: string | undefined, changeType: ProposedChange): boolean {
  if (text === undefined) return false;
  if (text.trim() !== "*") {
    throw new CatalogError("malformed", `header If-None-Match is "${text}"`, {
      hint: "Send * to skip a CREATE of an existing aspect",
    });
  }
  if (changeType === "CREATE" || changeType === "CREATE_ENTITY") return true;
  throw new CatalogError("invalid", `header If-None-Match is not allowed with ${changeType}`, {
    hint: "Send CREATE to skip existing aspects, or If-Version-Match: -1 to be rejected if the aspect exists",
  });
}

function version(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(-1|\d{1,15})$/.test(text.trim())) return Number(text);
  throw new CatalogError("malformed", `header If-Version-Match is "${text}"`, {
    hint: "Send the expected version, or -1 when the aspect must not exist",
  });
}

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
/** Sun, 06 Nov 1994 08:49:37 GMT, as HTTP writes dates in headers. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

function instant(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const known = ISO_INSTANT.test(trimmed) || HTTP_DATE.test(trimmed);
  const time = known ? parseTime(trimmed) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new CatalogError("malformed", `header ${name} is "${text}"`, {
    hint: "Send an ISO-8601 instant, for example 2026-01-31T12:00:00Z",
  });
}
