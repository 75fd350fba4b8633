/**
 * The entities with records that the aspect view lacks when the service starts. There are none unless
 * the view cannot follow the log, for example because the disk is full.
 */
import { type Position, START } from "../../core/position.ts";
import { parseStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";

const PAGE = 1_000;

/** The last position of each entity, by urn, from the records after the view's position. */
export async function entitiesBehind(
  log: Pick<ChangeLog, "head" | "readAll">,
  viewAt: Position = START,
): Promise<ReadonlyMap<string, Position>> {
  const behind = new Map<string, Position>();
  const head = await log.head();
  for (let at = viewAt; at < head; ) {
    const page = await log.readAll(at, { limit: PAGE });
    const last = page.at(-1);
    if (last === undefined) break;
    for (const { stream, position } of page) {
      const parsed = parseStream(stream);
      if (parsed?.kind === "entity" && parsed.urn !== undefined) behind.set(parsed.urn, position);
    }
    at = last.position;
  }
  return behind;
}
