/** What is told, whichever command asked, when nobody answers at the address of a service. */
import { CatalogError } from "../core/errors.ts";

export const noAnswer = (server: string, cause: unknown): CatalogError =>
  new CatalogError("unavailable", `${server} did not answer (${connectionCause(cause)})`, {
    hint: "Start the service with `npm start`, or name the address it printed with --server",
    cause,
  });

/** fetch says "fetch failed" and hides what happened in its cause. */
export function connectionCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause ? String(cause.code) : cause.message;
}
