/** Makes a command fail while a view of the service is stuck behind the log. */
import { CatalogError } from "../../core/errors.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { OperatorClient } from "./operator-client.ts";

interface ServiceStatus {
  readonly views: Readonly<
    Record<
      string,
      { readonly position: number; readonly stalled: boolean; readonly error?: string }
    >
  >;
}

/** Returns the command's own code. Throws CatalogError `unavailable` instead of `done` where views are stuck. */
export async function unlessStuck(
  code: ExitCode,
  { client, terminal }: { readonly client: OperatorClient; readonly terminal: Terminal },
): Promise<ExitCode> {
  if (code !== exitCodes.done) return code;
  let status: ServiceStatus;
  try {
    status = await client.act<ServiceStatus>("getStatus");
  } catch (error) {
    // A token may allow the command but not getStatus.
    if (!(error instanceof CatalogError) || error.code !== "forbidden") throw error;
    terminal.note("cannot check that the views follow the log: the token may not read the status");
    return code;
  }
  const stuck = Object.entries(status.views).flatMap(([view, { position, stalled, error }]) =>
    error === undefined && !stalled
      ? []
      : [
          `view "${view}" is stuck at position ${position} behind the log: ${error ?? "no progress"}`,
        ],
  );
  if (stuck.length === 0) return code;
  throw new CatalogError("unavailable", stuck.join("; "));
}
