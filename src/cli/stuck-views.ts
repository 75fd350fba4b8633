/** Makes a command fail while a view of the service is stuck behind the log. */
import { CatalogError } from "../core/errors.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { OperatorClient } from "./operator-client.ts";
import type { Terminal } from "./terminal.ts";

interface ServiceStatus {
  readonly views: Readonly<
    Record<
      string,
      { readonly position: number; readonly stalled: boolean; readonly error?: string }
    >
  >;
}

/** Returns the command's own code, or `failed` instead of `done` and prints the views that are stuck. */
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
    terminal.tell("cannot check that the views follow the log: the token may not read the status");
    return code;
  }
  let stuck = false;
  for (const [view, { position, stalled, error }] of Object.entries(status.views)) {
    if (error === undefined && !stalled) continue;
    stuck = true;
    const why = error ?? "no progress";
    terminal.tell(`view "${view}" is stuck at position ${position} behind the log: ${why}`);
  }
  return stuck ? exitCodes.failed : code;
}
