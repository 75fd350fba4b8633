/** Lists the entities with records in a part of the log. */
import type { Position } from "../../../core/position.ts";
import { parseStream } from "../../../core/stream.ts";
import type { ChangeLog } from "../../../log/change-log.ts";

interface Touched {
  readonly urns: ReadonlySet<string>;
  /** Number of records of entities. */
  readonly records: number;
  /** End of the part that was read; before `to` if there are more entities than `max`. */
  readonly upTo: Position;
}

const PAGE_MAX = 2_000;

export async function changedSince(
  log: Pick<ChangeLog, "readAll">,
  from: Position,
  to: Position,
  max: number,
  signal?: AbortSignal,
): Promise<Touched> {
  const urns = new Set<string>();
  let records = 0;
  let at = from;
  while (at < to && urns.size <= max) {
    signal?.throwIfAborted();
    const page = await log.readAll(at, { limit: PAGE_MAX });
    const last = page.at(-1)?.position;
    if (last === undefined) break;
    for (const { stream } of page) {
      const urn = parseStream(stream)?.urn;
      if (urn === undefined) continue;
      urns.add(urn);
      records++;
    }
    at = last;
  }
  return { urns, records, upTo: at };
}
