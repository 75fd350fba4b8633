/** Errors as plain data, for another thread or process. */
import { CatalogError, type ErrorCode } from "./errors.ts";

export interface SerializedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Internal errors are serialized with their stack, for logging. */
export function serializeError(error: unknown): SerializedError {
  if (error instanceof CatalogError) {
    const { code, message, hint } = error;
    return { code, message, hint };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal", message };
}

export const deserializeError = ({ code, message, hint }: SerializedError): CatalogError =>
  new CatalogError(code, message, { hint });
