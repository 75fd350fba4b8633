/**
 * The namespace of the urns in a log. All of one log have the same, the one that the service was
 * configured with when it wrote them; under another none of them would be found.
 */
import { CatalogError } from "../core/errors.ts";
import { START } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import type { ChangeLog } from "./change-log.ts";

/** The first record tells, unless it is of no entity. */
const recordsMax = 10;

/** Throws `invalid` when the log was written with another one. `place` is where the log lies. */
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

/** Undefined: nothing was written. */
export async function writtenNamespace(
  log: Pick<ChangeLog, "readAll">,
): Promise<string | undefined> {
  for (const { stream } of await log.readAll(START, { limit: recordsMax })) {
    const urn = parseStream(stream)?.urn;
    if (urn !== undefined) return urn.split(":")[1];
  }
  return undefined;
}
