/** Errors as plain data, to be told to another thread or process. */
import { CatalogError, type ErrorCode } from "./errors.ts";

export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** A fault of ours is told whole, for the log. */
export function toldError(error: unknown): ToldError {
  if (error instanceof CatalogError) {
    const { code, message, hint } = error;
    return { code, message, hint };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal", message };
}

export const errorOf = ({ code, message, hint }: ToldError): CatalogError =>
  new CatalogError(code, message, hint === undefined ? {} : { hint });
