/** Makes a command fail while a view of the service is stuck behind the log. */
import { CatalogError } from "../../core/errors.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import { reachMsMax, type ServerConnection } from "./connection.ts";
import { createOperatorClient } from "./operator-client.ts";

interface ServiceStatus {
  readonly views: Readonly<
    Record<
      string,
      { readonly position: number; readonly stalled: boolean; readonly error?: string }
    >
  >;
}

/** Returns the command's own code. Throws CatalogError `unavailable` instead of `done` where views are stuck. */
export async function unlessStuck(code: ExitCode, connection: ServerConnection): Promise<ExitCode> {
  if (code !== exitCodes.done) return code;
  const stuck = await stuckViewsOf(connection);
  if (stuck === undefined) return code;
  throw new CatalogError("unavailable", `the command is done, but ${stuck}`);
}

/** Names the stuck views; undefined if there are none. */
async function stuckViewsOf({ server, token }: ServerConnection): Promise<string | undefined> {
  let status: ServiceStatus;
  try {
    status = await createOperatorClient(server, token).act<ServiceStatus>("getStatus");
  } catch (error) {
    // A token may allow the command but not getStatus.
    if (error instanceof CatalogError && error.code === "invalid") return unreadyOf(server);
    throw error;
  }
  const stuck = Object.entries(status.views).flatMap(([view, { position, stalled, error }]) =>
    error === undefined && !stalled
      ? []
      : [
          `view "${view}" is stuck at position ${position} behind the log: ${error ?? "no progress"}`,
        ],
  );
  return stuck.length === 0 ? undefined : stuck.join("; ");
}

/** The message of the readiness check, which needs no privilege; undefined if the service is ready. */
async function unreadyOf(server: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(reachMsMax);
  const response = await fetch(`${server}/health/ready`, { signal });
  if (response.status !== 503) return undefined;
  const { message } = (await response.json()) as { readonly message: string };
  return message;
}
