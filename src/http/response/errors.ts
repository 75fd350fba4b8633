/**
 * Error responses: a status, and DataHub's body with a stable code. Never a stack: other errors than
 * CatalogError are internal; the log has their details, the response only the request's id.
 */
import { CatalogError, type ErrorCode } from "../../core/errors.ts";
import { unreadableContentType } from "../request/body/json-body.ts";
import type { Endpoint } from "../schemas/endpoint.ts";
import { REGISTRY } from "./schema-registry-format.ts";
import { statusText } from "./status-text.ts";

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  mismatched: 412,
  too_large: 413,
  misdirected: 421,
  invalid: 422,
  rate_limited: 429,
  internal: 500,
  unreadable: 500,
  unavailable: 503,
};

export type ErrorForm = NonNullable<Endpoint["errorForm"]>;

/** The form of the errors of a path; undefined for that of rest.li. */
export function errorFormAt(path: string): ErrorForm | undefined {
  if (path.startsWith(`${REGISTRY}/`)) return "registry";
  return path.startsWith("/openapi/") ? "openapi" : undefined;
}

export const errorFormOf = ({ errorForm, path }: Endpoint): ErrorForm | undefined =>
  errorForm ?? errorFormAt(path);

/** Statuses of an error code. DataHub's OpenAPI uses 400 for content, 412 for a failed condition. */
export function statusesOf(code: ErrorCode, form: ErrorForm | undefined): readonly number[] {
  return form === "openapi" && code === "invalid" ? [400, 412] : [statusOf[code]];
}

/** `error` in the body of `/openapi`: DataHub's words, or those of HTTP. */
function openApiError({ code, failedCondition }: CatalogError, status: number): string {
  if (code === "invalid") return failedCondition ? "Precondition Error" : "Validation Error";
  return statusText(status) ?? "Error";
}

export interface ErrorBody {
  readonly status: number;
  /** Only on `/openapi`. */
  readonly error?: string;
  readonly message: string;
  /** Shown by DataHub's clients; never the name of a class of this service. */
  readonly exceptionClass: string;
  readonly code: ErrorCode;
  /** A condition of the request does not hold. */
  readonly failedCondition?: true;
}

interface Failure {
  readonly status: number;
  readonly body: ErrorBody;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number | undefined;
}

/** The response for an error. `missing` marks a not_found that is a normal result. */
export function failureOf(
  error: CatalogError,
  options: {
    readonly recordPrefix: string;
    readonly status?: number | undefined;
    readonly missing?: boolean | undefined;
    readonly form?: ErrorForm | undefined;
  },
): Failure {
  const [usual = 500, condition = usual] = statusesOf(error.code, options.form);
  const status = options.status ?? (error.failedCondition ? condition : usual);
  const openApi = options.form === "openapi" && { error: openApiError(error, status) };
  const exceptionClass =
    options.missing === true && error.code === "not_found"
      ? `${options.recordPrefix}.metadata.restli.NonExceptionHttpErrorResponse`
      : `${options.recordPrefix}.restli.server.RestLiServiceException`;
  return {
    status,
    body: {
      status,
      ...openApi,
      message: error.text,
      exceptionClass,
      code: error.code,
      ...(error.failedCondition && { failedCondition: true }),
    },
    retryAfter: status === 429 || status === 503 ? (error.retryAfterSeconds ?? 1) : undefined,
  };
}

/** An error of the framework, with its context. */
export interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
}

interface ReceivedRequest {
  readonly contentLength: string | undefined;
  readonly contentType: string | undefined;
  readonly bodyBytesMax: number;
  readonly requestId: string;
}

/** Translates rejections by the framework; any other error becomes `internal`. */
export function toCatalogError(error: FrameworkError, request: ReceivedRequest): CatalogError {
  const max = request.bodyBytesMax;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE": {
      const length = Number(request.contentLength ?? Number.NaN);
      const sent = length > max ? `${length} bytes` : `more than ${max} bytes`;
      return new CatalogError("too_large", `request body has ${sent}; at most ${max} are allowed`, {
        hint: "Send it in several requests",
      });
    }
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unreadableContentType(request.contentType);
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new CatalogError("malformed", "request body is not as long as Content-Length says");
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return new CatalogError("malformed", error.message);
  return new CatalogError("internal", "internal error", {
    hint: `The log of the service has the details of request ${request.requestId}`,
    cause: error,
  });
}
