/** The exit code of a command while views of the service do not follow the log. */
import { CatalogError } from "../core/errors.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { OperatorClient } from "./operator-client.ts";
import type { Terminal } from "./terminal.ts";

interface ToldViews {
  readonly views: Readonly<
    Record<
      string,
      { readonly position: number; readonly stalled: boolean; readonly error?: string }
    >
  >;
}

/** The command's own code; `failed` if it is `done` while a view is stuck, which is then named. */
export async function unlessStuck(
  code: ExitCode,
  { client, terminal }: { readonly client: OperatorClient; readonly terminal: Terminal },
): Promise<ExitCode> {
  if (code !== exitCodes.done) return code;
  let status: ToldViews;
  try {
    status = await client.act<ToldViews>("getStatus");
  } catch (error) {
    // A token may allow the command and not this question.
    if (!(error instanceof CatalogError) || error.code !== "forbidden") throw error;
    terminal.tell("whether the views follow the log is unknown: the token may not read the status");
    return code;
  }
  let stuck = false;
  for (const [view, { position, stalled, error }] of Object.entries(status.views)) {
    if (error === undefined && !stalled) continue;
    stuck = true;
    const why = error ?? "it does not move";
    terminal.tell(`the view "${view}" stays at position ${position} behind the log: ${why}`);
  }
  return stuck ? exitCodes.failed : code;
}
