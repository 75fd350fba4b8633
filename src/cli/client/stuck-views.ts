/** Makes a command fail while a view of the service is stuck behind the log. */
import { CatalogError } from "../../core/errors.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import { reachMsMax } from "./connection.ts";

/** Health reports errors of the log and the views, readiness views without progress. Both need no privilege. */
const checks = ["/health", "/health/ready"];

/** Returns the command's own code. Throws CatalogError `unavailable` instead of `done` while the service is not healthy. */
export async function unlessStuck(
  code: ExitCode,
  { server }: { readonly server: string },
): Promise<ExitCode> {
  if (code !== exitCodes.done) return code;
  for (const path of checks) {
    const signal = AbortSignal.timeout(reachMsMax);
    const response = await fetch(`${server}${path}`, { signal });
    const body = await response.text();
    if (response.status !== 503) continue;
    throw new CatalogError("unavailable", `the command is done, but ${messageIn(body)}`);
  }
  return code;
}

/** The message of an error response; the text of a proxy that sends another form. */
function messageIn(body: string): string {
  try {
    return String((JSON.parse(body) as { readonly message?: unknown }).message);
  } catch {
    return `the service is not healthy: ${body.slice(0, 200)}`;
  }
}
