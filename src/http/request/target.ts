/**
 * Parses the raw target of a request. This comes before the router, which would decode keys and split
 * them at their slashes: keys are urns and may contain any character, encoded or raw.
 *
 * Everything except the action stays encoded; decodeOnce (percent.ts) and query.ts decode. Never throws.
 */

export interface RequestAddress {
  /** Without prefix, query and trailing slashes: `/config`, `/aspects/<key>`; the root is `/`. */
  readonly path: string;
  /** First segment of the path when it is a rest.li resource: `aspects`. */
  readonly resource?: string | undefined;
  /** The part after the resource's slash, up to the first `?`; absent when it has only slashes. */
  readonly rawKey?: string | undefined;
  /** The part after the first `?`. */
  readonly rawQuery: string;
  /** Value of the query parameter `action`, decoded. */
  readonly action?: string | undefined;
}

/** Prefixes of every path, for DataHub's usual proxies. */
const PREFIX = /^\/(?:api\/)?gms(?=\/|$)/;
/** Targets that may have such a prefix, or repeated slashes. */
const MOUNTED = /^\/(?:\/|api\/|gms)/;
/** Absolute form, which proxies may send instead of a path (RFC 9112 §3.2.2). */
const AUTHORITY = /^https?:\/\/[^/?]*/i;
const LEADING_SLASHES = /^\/{2,}/;
/** Alternative paths. */
const ALIASES: Readonly<Record<string, string>> = {
  "/api/v2/graphql": "/api/graphql",
  "/graphql": "/api/graphql",
  "/api/v1/lineage": "/openapi/openlineage/api/v1/lineage",
  "/api/v1/lineage/batch": "/openapi/openlineage/api/v1/lineage/batch",
  "/openapi/v3/api-docs": "/openapi.json",
};
const TRAILING_SLASHES = /(?<=[^/])\/+$/;
const ONLY_SLASHES = /^\/*$/;
const ACTION = /(?:^|&)action=([^&]*)/;
/** A urn with its id in brackets, and trailing slashes, which are not part of the urn. */
const CLOSED = /^(urn(?:(?::|%3A)[^:%/]+){2}(?::|%3A)(?:\(|%28).*(?:\)|%29))\/+$/is;

/**
 *   /api/gms/entitiesV2/urn:li:tag:a%2Fb?aspects=List(status)
 *   → path /entitiesV2/urn:li:tag:a%2Fb, resource entitiesV2, rawKey urn:li:tag:a%2Fb,
 *     rawQuery aspects=List(status)
 */
export function parseTarget(target: string, resources: ReadonlySet<string>): RequestAddress {
  const relative = target.charCodeAt(0) === 0x2f ? target : target.replace(AUTHORITY, "");
  const mark = relative.indexOf("?");
  const rawQuery = mark < 0 ? "" : relative.slice(mark + 1);
  let path = mark < 0 ? relative : relative.slice(0, mark);
  if (MOUNTED.test(path)) {
    path = path.replace(LEADING_SLASHES, "/").replace(PREFIX, "").replace(LEADING_SLASHES, "/");
  }

  // A target without a leading slash ("*", or an invalid one) names no resource.
  const slash = path.charCodeAt(0) === 0x2f ? path.indexOf("/", 1) : -1;
  const first = slash < 0 ? path.slice(1) : path.slice(1, slash);
  const action = rawQuery.includes("action=") ? actionIn(rawQuery) : undefined;
  if (path.charCodeAt(0) !== 0x2f || !resources.has(first)) {
    const trimmed = path === "" ? "/" : path.replace(TRAILING_SLASHES, "");
    const known = Object.hasOwn(ALIASES, trimmed) ? ALIASES[trimmed] : undefined;
    return { path: known ?? trimmed, resource: undefined, rawKey: undefined, rawQuery, action };
  }
  const rest = slash < 0 ? "" : path.slice(slash + 1);
  const rawKey = ONLY_SLASHES.test(rest) ? undefined : keyIn(rest);
  const whole = rawKey === undefined ? `/${first}` : `/${first}/${rawKey}`;
  return { path: whole, resource: first, rawKey, rawQuery, action };
}

const keyIn = (rest: string): string =>
  rest.endsWith("/") ? (CLOSED.exec(rest)?.[1] ?? rest) : rest;

function actionIn(rawQuery: string): string | undefined {
  const action = ACTION.exec(rawQuery)?.[1];
  if (action === undefined || !action.includes("%")) return action;
  try {
    return decodeURIComponent(action);
  } catch {
    return action;
  }
}
