/**
 * Checks the namespace of the urns in a log. All urns of a log have the namespace that was configured
 * when they were written; with another namespace none of them would be found.
 */
import { CatalogError } from "../core/errors.ts";
import { START } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import type { ChangeLog } from "./change-log.ts";

/** Records to search for the first one of an entity. */
const recordsMax = 10;

/** Throws `invalid` if the log has another namespace. `place`: location of the log, for messages. */
export async function checkNamespace(
  log: Pick<ChangeLog, "readAll">,
  namespace: string,
  place: string,
): Promise<void> {
  const written = await writtenNamespace(log);
  if (written === undefined || written === namespace) return;
  throw new CatalogError(
    "invalid",
    `the urns in "${place}" have the namespace "${written}", not "${namespace}"`,
    {
      hint: `Start with --urn-namespace ${written} (ANNALS_URN_NAMESPACE), or name another directory with --data`,
    },
  );
}

/** Undefined for an empty log. */
export async function writtenNamespace(
  log: Pick<ChangeLog, "readAll">,
): Promise<string | undefined> {
  for (const { stream } of await log.readAll(START, { limit: recordsMax })) {
    const urn = parseStream(stream)?.urn;
    if (urn !== undefined) return urn.split(":")[1];
  }
  return undefined;
}
