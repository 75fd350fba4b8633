/**
 * The error of the catalog that interfaces show to clients. `code` is part of the API and never
 * changes; `message` may.
 *
 * The message is a short fragment that names the thing and quotes the user's value; `hint` says
 * what to do. The interfaces map codes to their own words (http/response/errors.ts). Any other
 * error is a defect: it is logged whole, and clients see "internal error".
 */
import { withoutMiddle } from "../lib/shortened.ts";

export type ErrorCode =
  | "malformed" // the form of a request: body, parameters, a urn that does not parse
  | "invalid" // the content of a request: unknown aspect, a value that does not fit, a failed condition
  | "mismatched" // two lists of a request that belong together differ in length
  | "unauthenticated"
  | "forbidden"
  | "misdirected" // the request names a host that the service does not answer to
  | "not_found"
  | "gone" // permanently removed: a retry does not help
  | "conflict" // a race that was lost more often than we retry
  | "too_large"
  | "rate_limited"
  | "unavailable" // try again later; nothing is wrong with the request
  | "unreadable" // a record of the log, which this release cannot read; trying again does not help
  | "internal";

/** A longer message or hint keeps so many characters of each end: requests may have megabytes. */
const endMax = 2_000;

export class CatalogError extends Error {
  override readonly name = "CatalogError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** When the same request may succeed, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  /** The rejected user, for the audit trail only. */
  readonly actor: string | undefined;
  /** The missing privilege, where clients compare the message, which then does not name it. */
  readonly needs: string | undefined;
  /** For `invalid`: a condition of the request does not hold, such as If-Version-Match. */
  readonly failedCondition: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      hint?: string | undefined;
      cause?: unknown;
      retryAfterSeconds?: number;
      actor?: string | undefined;
      needs?: string;
      failedCondition?: boolean;
    } = {},
  ) {
    super(
      withoutMiddle(message, endMax),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.hint = options.hint === undefined ? undefined : withoutMiddle(options.hint, endMax);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.actor = options.actor;
    this.needs = options.needs;
    this.failedCondition = options.failedCondition ?? false;
  }

  /** Message and hint in one line, as responses show them. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message}. ${this.hint}`;
  }
}

/** The error of an invalid request; `hint`: what to do. */
export const invalid = (message: string, hint: string): CatalogError =>
  new CatalogError("invalid", message, { hint });

/** A record of the log cannot be read. */
export const isUnreadable = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.code === "unreadable";

/** Throws an internal error if an invariant is violated; clients do not see the message. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${why}`);
}

/** The message of a thrown value, as part of a sentence. */
export const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);
