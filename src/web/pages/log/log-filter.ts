/** Filters of the log that the change feed does not have. */
import type { Change } from "../../api/changes.ts";
import { textAt } from "../../api/json.ts";

/** Compares the user and the run of a record with parts of them, without letter case. */
export function matchesUser(change: Change, actor: string, run: string): boolean {
  const contains = (text: string, part: string): boolean =>
    part === "" || text.toLowerCase().includes(part.toLowerCase());
  return (
    contains(change.created?.actor ?? "", actor) &&
    contains(textAt(change.systemMetadata, "runId") ?? "", run)
  );
}
