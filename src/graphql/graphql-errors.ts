/** Errors of GraphQL responses: in `errors`, with the extensions that DataHub's clients read. */
import type { GraphQLError } from "graphql";
import { CatalogError, type ErrorCode } from "../core/errors.ts";

interface Extension {
  readonly code: number;
  readonly type: string;
}

const extensionOf: Readonly<Record<ErrorCode, Extension>> = {
  malformed: { code: 400, type: "BAD_REQUEST" },
  invalid: { code: 400, type: "BAD_REQUEST" },
  mismatched: { code: 400, type: "BAD_REQUEST" },
  too_large: { code: 400, type: "BAD_REQUEST" },
  unauthenticated: { code: 403, type: "UNAUTHORIZED" },
  forbidden: { code: 403, type: "UNAUTHORIZED" },
  misdirected: { code: 421, type: "BAD_REQUEST" },
  not_found: { code: 404, type: "NOT_FOUND" },
  gone: { code: 410, type: "GONE" },
  conflict: { code: 409, type: "CONFLICT" },
  rate_limited: { code: 500, type: "SERVER_ERROR" },
  unavailable: { code: 500, type: "SERVER_ERROR" },
  unreadable: { code: 500, type: "SERVER_ERROR" },
  internal: { code: 500, type: "SERVER_ERROR" },
};

/** Only CatalogErrors of resolvers are shown. Other errors are internal: logged, without details here. */
export function shownError(error: GraphQLError, onFault: (fault: unknown) => void): object {
  const { message, locations, path, originalError } = error;
  const position = { locations, path };
  if (originalError instanceof CatalogError) {
    const { code, needs } = originalError;
    const extensions = { ...extensionOf[code], classification: FETCHING, needs };
    return { message: originalError.text, ...position, extensions };
  }
  if (path !== undefined) {
    onFault(originalError ?? error);
    const extensions = { ...extensionOf.internal, classification: FETCHING };
    return { message: "An unknown error occurred.", ...position, extensions };
  }
  const syntax = message.startsWith("Syntax Error");
  const classification = syntax ? "InvalidSyntax" : "ValidationError";
  return { message, ...position, extensions: { classification } };
}

const FETCHING = "DataFetchingException";
