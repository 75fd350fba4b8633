/**
 * The search view's reading side in SQLite. Questions are answered in a thread of their own
 * (search-thread.ts), which starts with the first one; the columns that it keeps in memory go with
 * it. A thread that ends by itself fails the questions that it had, and the next one starts another.
 */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import { position } from "../../core/position.ts";
import { errorOf, type ToldError } from "../../core/told-error.ts";
import type { Dump } from "../../projector/compare.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import type { SearchDocument, SearchReader } from "../search.ts";
import { decodeDocument, decodeLater } from "../stored-document.ts";
import type { StoredDocument } from "./documents.ts";
import { searchSchema } from "./schema.ts";
import type { SearchTimes } from "./search-index.ts";
import type {
  Answers,
  FromSearchThread,
  Question,
  SearchThreadData,
  ToSearchThread,
} from "./search-thread.ts";

/** All that the view holds of an entity; in the order of the hashes of urns, then of urns. */
export interface SearchRow {
  readonly position: number;
  readonly document: SearchDocument;
}

interface Pending {
  resolve(answer: Answers[Question["kind"]]): void;
  reject(error: Error): void;
}

/** The view must have been opened for writing once before. */
export function openSqliteSearchReader(
  path: string,
  times?: SearchTimes,
): SearchReader & Dump<SearchRow> {
  const pending = new Map<number, Pending>();
  let thread: Worker | undefined;
  let lastId = 0;
  let closed = false;
  openSqliteViewReader(searchSchema, path).close();

  function start(): Worker {
    const worker = new Worker(new URL("./search-thread.ts", import.meta.url), {
      workerData: { path, times } satisfies SearchThreadData,
      name: "search",
    });
    let reason = unavailable("ended");
    worker.on("message", (message: FromSearchThread) => {
      const asked = pending.get(message.id);
      pending.delete(message.id);
      if (pending.size === 0) worker.unref();
      if ("answer" in message) asked?.resolve(message.answer);
      else asked?.reject(failureOf(message.failure));
    });
    worker.on("error", (cause) => {
      reason = unavailable(`ended: ${cause}`, cause);
    });
    worker.on("exit", () => {
      if (thread === worker) thread = undefined;
      for (const { reject } of pending.values()) reject(reason);
      pending.clear();
    });
    return worker;
  }

  function ask<K extends Question["kind"]>(
    question: Extract<Question, { kind: K }>,
  ): Promise<Answers[K]> {
    if (closed) return Promise.reject(unavailable("is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<Answers[K]>();
    thread ??= start();
    thread.ref();
    const id = ++lastId;
    pending.set(id, { resolve: resolve as Pending["resolve"], reject });
    thread.postMessage({ id, question } satisfies ToSearchThread);
    return promise;
  }

  return {
    async search(query) {
      const { hits, ...answer } = await ask({ kind: "search", query });
      return {
        ...answer,
        hits: hits.map(({ urn, json, score, cursor }) => ({
          document: decodeLater(urn, json),
          score,
          cursor,
        })),
      };
    },
    folders: (query) => ask({ kind: "folders", query }),
    async documents(urns) {
      const stored = await ask({ kind: "documents", urns });
      return stored.map((one) => one && decodeDocument(one.urn, one.json));
    },
    dump: () => dump(path),
    async close() {
      closed = true;
      await thread?.terminate();
    },
  };
}

const unavailable = (what: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" ${what}`, { cause });

/** A fault of ours is no error of the catalog. */
const failureOf = (told: ToldError): Error =>
  told.code === "internal" ? new Error(told.message) : errorOf(told);

const ROWS_PER_SLICE_MAX = 500;

type StoredRow = StoredDocument & { readonly hash: number; readonly position: number };

async function* dump(path: string): AsyncGenerator<SearchRow> {
  const db = openSqliteViewReader(searchSchema, path);
  const { objects } = preparingOn(db);
  const slice = objects<StoredRow>(`
    SELECT hash, urn, position, json FROM entity JOIN written USING (id) JOIN document USING (id)
    WHERE live = 1 AND (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${ROWS_PER_SLICE_MAX}`);
  try {
    let after: readonly [hash: number, urn: string] | undefined = [-1, ""];
    while (after !== undefined) {
      const [hash, urn]: readonly [number, string] = after;
      const rows: readonly StoredRow[] = translated(searchSchema, "read", () =>
        slice.all(hash, urn),
      );
      for (const row of rows) {
        yield { position: position(row.position), document: decodeDocument(row.urn, row.json) };
      }
      const last = rows.at(-1);
      after = last && [last.hash, last.urn];
    }
  } finally {
    db.close();
  }
}
