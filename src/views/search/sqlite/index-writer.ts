/**
 * Writes segments and tombstones. Documents wait in memory until the batch is applied; where no
 * reader waits for them (`bulk`), until there are many.
 */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { Scope } from "../search.ts";
import { decodeDocument } from "../stored-document.ts";
import { Deadline } from "./query/deadline.ts";
import { createAnswers } from "./query/search-index.ts";
import type { SegmentRow } from "./segments/segment.ts";
import { buildSegment, type IndexedDocument } from "./segments/segment-builder.ts";
import { mergeSegments } from "./segments/segment-merge.ts";
import {
  createSegmentReader,
  createSegmentWriter,
  type StoredState,
} from "./segments/segment-store.ts";
import type { BuiltSegment } from "./segments/segment-writer.ts";
import type { Merged } from "./threads/merge-thread.ts";
import { createMerger, dueFull, dueMerge, dueRewrite } from "./threads/merging.ts";

/** Documents of one segment, and the length of their JSON. */
const DOCUMENTS_MAX = 8_192;
const CHARACTERS_MAX = 16 * 1024 * 1024;
/** Segments that are merged at once where no reader waits. */
const BULK_FAN_IN = 32;
/** Segments that are merged within a batch. */
const INLINE_BYTES_MAX = 512 * 1024;
/** Entities of one page of `holding`. */
const HOLDERS_MAX = 1_000;
/** The score of each document that matches `all`. */
const ALL_SCORE = 1;

export type IndexWriter = ReturnType<typeof createIndexWriter>;

export function createIndexWriter(db: DatabaseSync, bulk: boolean) {
  const { arrays } = preparingOn(db);
  const reader = createSegmentReader(db);
  const answers = createAnswers(db, reader);
  const writer = createSegmentWriter(db);
  const saveState = db.prepare("UPDATE state SET turn = ?, document = ?");
  const bury = db.prepare("INSERT OR REPLACE INTO tombstone (id, urn, turn) VALUES (?, ?, ?)");
  const unbury = db.prepare("DELETE FROM tombstone WHERE id BETWEEN ? AND ? AND turn <= ?");
  const countBuried = arrays<readonly [number]>(
    "SELECT count(*) FROM tombstone WHERE id BETWEEN ? AND ?",
  );
  const isBuried = arrays<readonly [number]>("SELECT 1 FROM tombstone WHERE id = ?");
  const selectUnindexed = arrays<readonly [id: number, urn: string, json: string]>(`
    SELECT document.id, urn, json FROM document JOIN entity ON entity.id = document.entity
    WHERE document.id > coalesce((SELECT max(last) FROM segment), 0) ORDER BY document.id`);

  let state: StoredState | undefined;
  /** True if segments or tombstones changed in this transaction. */
  let changed = false;
  /** Documents that are in no segment, by id; undefined before they are read. */
  let waiting: Map<number, IndexedDocument> | undefined;
  let characters = 0;
  const merger = createMerger(db.location() ?? "");
  let merging: Merging | undefined;
  let mergeAt = 0;

  function stateNow(): StoredState {
    state ??= reader.state();
    return state;
  }

  function set(change: Partial<StoredState>): void {
    state = { ...stateNow(), ...change };
  }

  /** The turn of the changes of this transaction. */
  const turnNow = (): number => stateNow().turn + 1;

  function save(): void {
    if (changed) set({ turn: turnNow() });
    changed = false;
    const { turn, document } = stateNow();
    saveState.run(turn, document);
  }

  function waitingNow(): Map<number, IndexedDocument> {
    if (waiting === undefined) {
      waiting = new Map();
      characters = 0;
      for (const [id, urn, json] of selectUnindexed.all()) {
        waiting.set(id, { id, document: decodeDocument(urn, json) });
        characters += json.length;
      }
    }
    return waiting;
  }

  function addSegment(built: BuiltSegment, range: readonly [first: number, last: number]): void {
    writer.add(built, range);
    changed = true;
  }

  function flush(): void {
    const documents = [...waitingNow().values()];
    const [first, last] = [documents[0]?.id, documents.at(-1)?.id];
    if (first === undefined || last === undefined) return;
    addSegment(buildSegment(documents), [first, last]);
    waiting = new Map();
    characters = 0;
    mergeSmall();
  }

  function mergeSmall(): void {
    for (;;) {
      const due = dueMerge(
        reader.rows(),
        bulk ? { fanIn: BULK_FAN_IN } : { bytesMax: INLINE_BYTES_MAX, busy: merging?.segments },
      );
      if (due === undefined) return;
      replace(due, mergeSegments(due.map(reader.openWhole)), turnNow());
    }
  }

  /** Puts a segment in place of those that it was merged of; tombstones up to `turn` took effect. */
  function replace(
    merged: readonly SegmentRow[],
    built: BuiltSegment | undefined,
    turn: number,
  ): void {
    const [first, last] = [merged[0]?.first ?? 0, merged.at(-1)?.last ?? 0];
    for (const row of merged) writer.remove(row);
    unbury.run(first, last, turn);
    changed = true;
    if (built !== undefined) addSegment(built, [first, last]);
  }

  /** Segments that a thread has to merge. */
  function dueLarge(): readonly SegmentRow[] | undefined {
    const rows = reader.rows();
    const due = dueMerge(rows) ?? dueFull(rows);
    if (due !== undefined) return due;
    const worn = dueRewrite(rows, ({ first, last }) => countBuried.get(first, last)?.[0] ?? 0);
    return worn && [worn];
  }

  function drop(): void {
    state = undefined;
    changed = false;
    waiting = undefined;
    reader.forget();
  }

  /** Takes the result of a merge that ended, in a transaction of its own. */
  async function take(ids: readonly number[], { turn, built }: Merged, amend: Amend) {
    await amend(() => {
      const due = reader.rows().filter(({ id }) => ids.includes(id));
      // A reset may have removed them.
      if (due.length < ids.length) return;
      replace(due, built, turn);
      save();
    });
  }

  return {
    nextDocument(): number {
      const document = stateNow().document + 1;
      set({ document });
      return document;
    },
    add(document: IndexedDocument, length: number): void {
      waitingNow().set(document.id, document);
      characters += length;
      if (waitingNow().size >= DOCUMENTS_MAX || characters >= CHARACTERS_MAX) flush();
    },
    remove(id: number, urn: string): void {
      // An id that was never given comes from a damaged table.
      if (waitingNow().delete(id) || id > stateNow().document) return;
      bury.run(id, urn, turnNow());
      changed = true;
    },
    /** Documents of an entity in the index that have no tombstone. */
    versionsOf(urn: string): readonly number[] {
      return reader.segments().flatMap((segment) => {
        const doc = segment.urns.find(urn);
        const id = doc < 0 ? undefined : segment.idOf(doc);
        return id === undefined || isBuried.get(id) !== undefined ? [] : [id];
      });
    },
    /** Releases the segments that were read. */
    release: () => reader.release(),
    /** Writes what waits, in a transaction. */
    flush(): void {
      flush();
      save();
    },
    /** At the end of a batch, in its transaction. */
    commit(): void {
      if (!bulk) flush();
      save();
    },
    /** Starts a merge of large segments, or takes the result of one. True while one runs. */
    async mergeLarge(amend: Amend): Promise<boolean> {
      try {
        if (merging !== undefined) {
          const merged = await Promise.race([merging.merged, delay(MERGE_WAIT_MS, undefined)]);
          if (merged === undefined) return true;
          mergeAt = performance.now() + MERGE_PAUSE_MS;
          await take(merging.segments, merged, amend);
        }
        merging = undefined;
      } catch (error) {
        merging = undefined;
        drop();
        throw error;
      }
      const due = dueLarge();
      if (due === undefined) return false;
      if (performance.now() < mergeAt) {
        await delay(MERGE_WAIT_MS);
        return true;
      }
      const segments = due.map(({ id }) => id);
      merging = { segments, merged: merger.merge(segments) };
      // A later call takes the result, also a failure.
      merging.merged.catch(() => {});
      return true;
    },
    /** Urns of a type whose documents have a value of one of the fields, in order, a page of them. */
    holding(entityType: string, fields: readonly string[], from?: string) {
      const scope: Scope = {
        entityTypes: [entityType],
        expression: { kind: "all" },
        condition: { kind: "any", any: fields.map((field) => ({ kind: "exists", field })) },
      };
      const after = from === undefined ? undefined : [ALL_SCORE, from];
      const page = { sort: [], start: 0, count: HOLDERS_MAX, after, facets: [] };
      const { hits } = answers.search({ ...scope, ...page }, new Deadline(Infinity));
      reader.release();
      const urns = hits.map(({ urn }) => urn);
      return urns.length < HOLDERS_MAX ? { urns } : { urns, next: urns.at(-1) };
    },
    clearCache: drop,
    close: () => merger.close(),
  };
}

type Amend = (write: () => void) => Promise<void>;

/** A merge in the thread, and the ids of the segments that it merges. */
interface Merging {
  readonly segments: readonly number[];
  readonly merged: Promise<Merged>;
}

/** A merge is waited for at most so long, with every batch and between two. */
const MERGE_WAIT_MS = 5;

/** After a merge the next one waits so long: it merges more segments, so that each document is merged less often. */
const MERGE_PAUSE_MS = 5_000;
