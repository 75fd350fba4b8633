/**
 * Checks a SQLite file in a process of its own, at low priority: SQLite cannot be interrupted from
 * JavaScript.
 */
import { fork } from "node:child_process";
import { setPriority } from "node:os";
import { messageOf } from "../../core/errors.ts";

/** Message of the process. `finding`: the first damage, as a fragment. */
type CheckReport = { readonly finding: string | null } | { readonly error: string };

const NICENESS = 10;

/**
 * Forks a module that calls `reportFinding` with the arguments. Returns its finding; undefined when
 * there is none. Rejects with an Error when the file cannot be checked, or the signal aborts.
 */
export function checkInProcess(
  module: URL,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(why));
    const child = fork(module, args, { signal });
    child.on("message", (report: CheckReport) => {
      if ("error" in report) fail(report.error);
      else resolve(report.finding ?? undefined);
    });
    child.on("error", (error) => fail(messageOf(error)));
    // The exit may come before the last message, but closing the channel does not.
    child.on("close", (code, by) => fail(`the check exited with ${code ?? by}`));
  });
}

/**
 * Runs in the process: checks the file that its first argument names, reports to the parent and
 * ends.
 */
export function reportFinding(find: (file: string, part?: string) => string | undefined): void {
  const [file = "", part] = process.argv.slice(2);
  const report = (message: CheckReport): void => {
    process.send?.(message, () => process.disconnect());
  };
  try {
    setPriority(NICENESS);
    report({ finding: find(file, part) ?? null });
  } catch (error) {
    report({ error: messageOf(error) });
  }
}
