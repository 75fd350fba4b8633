/**
 * Applies truncations to the store. Readers skip truncated events as soon as the truncation is stored
 * with the checkpoint; documents are deleted later. If the server supports delete by query, it is a
 * task of the server; otherwise they are queried and deleted in parts.
 *
 * The truncation alone determines the deleted events: those written before it, and older than its
 * time. So time and repetition of the deletion do not matter, nor do later writes of an event.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../../core/errors.ts";
import { position } from "../../../core/position.ts";
import { statusOf } from "../../../storage/elasticsearch/client.ts";
import type { ElasticsearchView } from "../../../storage/elasticsearch/elasticsearch-view.ts";
import { singleSearch } from "../../../storage/elasticsearch/multi-search.ts";
import type { Truncate } from "./batch.ts";
import { type Kept, type NotedTruncation, placeOfIndex, takenBy } from "./documents.ts";
import { type EventHit, eventPagesOf } from "./pages.ts";
import { findTask } from "./tasks.ts";

/** Number of finished truncations that are kept: jobs poll until theirs is finished. */
const DONE_MAX = 100;
/** Maximum number of documents of one part. */
const PART_MAX = 1_000;
/** Milliseconds between polls of a task; other truncations run meanwhile. */
const LOOK_MS = 100;
const DELAY_MS = 10;

const CANNOT: ReadonlySet<number> = new Set([400, 404, 405]);

/** Adds truncations to the stored ones, which have lower positions. */
export function noted({ truncations }: Kept, writes: readonly Truncate[]): Kept {
  if (writes.length === 0) return { truncations };
  const added = writes.map(
    ({ position, entityType, aspect, before, batchSize }): NotedTruncation => ({
      position,
      entityType,
      aspect,
      before,
      batchSize,
      deleted: 0,
      done: false,
    }),
  );
  const pending = truncations.filter(({ done }) => !done);
  const done = truncations.filter((one) => one.done).slice(-DONE_MAX);
  return { truncations: [...done, ...pending, ...added] };
}

/** Deletes one part at most; returns true if there may be more to do. */
export function createTruncateStep(view: ElasticsearchView<Kept>): () => Promise<boolean> {
  let byQuery: boolean | undefined;
  let lookedAt = 0;

  async function note(changed: NotedTruncation): Promise<void> {
    const { truncations } = (await view.state()).kept;
    const kept = {
      truncations: truncations.map((one) => (one.position === changed.position ? changed : one)),
    };
    await view.move({ kept });
    if (changed.done) await view.show([placeOfIndex(changed)], kept);
  }

  async function indexOf(truncation: NotedTruncation): Promise<string> {
    const { generation } = await view.state();
    return view.names.index(generation, placeOfIndex(truncation));
  }

  /** The id of the task that deletes; undefined where the server has none such. */
  async function start(truncation: NotedTruncation): Promise<string | undefined> {
    const index = await indexOf(truncation);
    await view.refresh();
    try {
      const { task } = await view.server.send("written", (client) =>
        client.deleteByQuery({
          index,
          ignore_unavailable: true,
          conflicts: "proceed",
          refresh: true,
          wait_for_completion: false,
          scroll_size: truncation.batchSize,
          query: takenBy(truncation),
        }),
      );
      return task === undefined ? undefined : String(task);
    } catch (error) {
      if (CANNOT.has(statusOf(error) ?? 0)) return undefined;
      throw error;
    }
  }

  async function pollTask(truncation: NotedTruncation, id: string): Promise<void> {
    const early = lookedAt + LOOK_MS - performance.now();
    if (early > 0) {
      await delay(Math.min(early, DELAY_MS));
      return;
    }
    const { task: _, ...without } = truncation;
    const task = await findTask(view.server, id);
    // A restarted server does not know the task, so it is started again.
    if (task === undefined) return note(without);
    if (!task.completed) {
      lookedAt = performance.now();
      return;
    }
    const deleted = truncation.deleted + task.deleted;
    if (task.failure === undefined) return note({ ...truncation, deleted, done: true });
    await note({ ...without, deleted });
    throw new CatalogError(
      "unavailable",
      `deleting truncated events failed (task ${id} of ${view.server.where}): ${task.failure}`,
    );
  }

  async function part(truncation: NotedTruncation): Promise<void> {
    const partition = placeOfIndex(truncation);
    const most = Math.min(truncation.batchSize, PART_MAX);
    await view.refresh();
    const pages = eventPagesOf(
      singleSearch((request) => view.server.send("read", request)),
      {
        index: await indexOf(truncation),
        query: takenBy(truncation),
        sort: ["urn", "time", "key"],
        first: most,
      },
    );
    const page: readonly EventHit[] = (await pages.next()).value ?? [];
    const version = position(truncation.position);
    const passed = await view.write(page.map(({ id }) => ({ partition, id, version })));
    const deleted = truncation.deleted + page.length - passed.length;
    await note({ ...truncation, deleted, done: page.length === 0 });
  }

  return async () => {
    const { truncations } = (await view.state()).kept;
    const truncation = truncations.find(({ done }) => !done);
    if (truncation === undefined) return false;
    if (truncation.task !== undefined) {
      await pollTask(truncation, truncation.task);
    } else if (byQuery === false) {
      await part(truncation);
    } else {
      const task = await start(truncation);
      byQuery = task !== undefined;
      if (task !== undefined) await note({ ...truncation, task });
    }
    return true;
  };
}
