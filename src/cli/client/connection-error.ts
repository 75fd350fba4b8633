/** The error of every command when a service does not respond. */
import { CatalogError } from "../../core/errors.ts";
import { startCommand } from "../../lib/command-hint.ts";

export const noAnswer = (server: string, cause: unknown): CatalogError =>
  new CatalogError("unavailable", `${server} did not answer (${connectionCause(cause)})`, {
    hint: speaksNoTls(cause)
      ? `It seems to speak no TLS: try --server ${server.replace(/^https:/, "http:")}`
      : `Start the service with \`${startCommand}\`, or name the address it printed with --server`,
    cause,
  });

/** A plain-text response is not TLS for OpenSSL; another attempt would fail the same way. */
const speaksNoTls = (cause: unknown): boolean => PLAIN_ANSWERS.has(connectionCause(cause));

const PLAIN_ANSWERS: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);

/** fetch says "fetch failed" and hides what happened in its cause. */
export function connectionCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause ? String(cause.code) : cause.message;
}
