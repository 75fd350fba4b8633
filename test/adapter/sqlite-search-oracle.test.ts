/**
 * The embedded search engine compared with evaluate.ts over random histories, merges and restarts:
 * 60 of them, or as many as fit in a time with any seed, as `.ci/run` does for a minute:
 * `ORACLE_MINUTES=60 ORACLE_SEED=7 npm test -- test/adapter/sqlite-search-oracle.test.ts`.
 */
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SearchWrite } from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import {
  createSearchModel,
  folderQueries,
  searchHistories,
  searchQueries,
} from "../contract/search-model.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const seed = Number(process.env.ORACLE_SEED ?? 34);
const minutes = process.env.ORACLE_MINUTES;
const msMax = Number(minutes ?? 1) * 60_000;
/** A slow machine compares fewer than 60. */
const runs = {
  numRuns: minutes === undefined ? 60 : 1_000_000,
  interruptAfterTimeLimit: msMax,
};
/** The last history is completed after the time. */
const timeout = msMax + 240_000;

const steps = fc.array(
  fc.record({
    size: fc.integer({ min: 1, max: 40 }),
    action: fc.constantFrom("nothing", "reopen", "restore"),
  }),
  { minLength: 2, maxLength: 8 },
);

function batchesOf(writes: readonly SearchWrite[], sizes: readonly number[]) {
  const batches: (readonly SearchWrite[])[] = [];
  for (let from = 0, n = 0; from < writes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    batches.push(writes.slice(from, from + size));
    from += size;
  }
  return batches;
}

test("every answer is that of the oracle after any history of batches, restarts and restores", {
  timeout,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      searchHistories(20, 200),
      steps,
      fc.boolean(),
      fc.array(fc.tuple(searchQueries, folderQueries), { minLength: 6, maxLength: 12 }),
      async (history, plan, bulk, questions) => {
        using directory = temporaryDirectory("annals-search");
        const path = join(directory.path, "search.sqlite");
        const model = createSearchModel();
        let sink = openSqliteSearchSink({ path, bulk });
        const sizes = plan.map(({ size }) => size);
        for (const [n, batch] of batchesOf(history, sizes).entries()) {
          const upTo = batch.at(-1)?.position;
          if (upTo === undefined) continue;
          await sink.apply(batch, upTo);
          model.apply(batch, upTo);
          const { action } = plan[n % plan.length] ?? { action: "nothing" };
          const urn = batch[0]?.urn ?? "";
          if (action === "restore") {
            await sink.restore(
              urn,
              history.filter((write) => write.urn === urn && write.position <= upTo),
            );
          } else if (action === "reopen" && !bulk) {
            await sink.close();
            sink = openSqliteSearchSink({ path });
          }
        }
        await sink.close();
        const reader = openSqliteSearchReader(path, { threads: 1 });
        for (const [asked, folders] of questions) {
          expect(await reader.search(asked)).toEqual(model.search(asked));
          expect(await reader.folders(folders)).toEqual(model.folders(folders));
        }
        await reader.close();
      },
    ),
    { ...runs, seed },
  );
});

/** Few words, so that most phrases are in some documents and their words in others. */
const vocabulary = ["a", "b", "c", "d"];
const phrases = vocabulary.flatMap((first) =>
  vocabulary.flatMap((second) => [
    [first, second],
    ...vocabulary.map((third) => [first, second, third]),
  ]),
);

const withFewWords = (write: SearchWrite): SearchWrite =>
  write.op === "remove"
    ? write
    : {
        ...write,
        document: {
          ...write.document,
          texts: write.document.texts.map((text) => ({
            ...text,
            words: text.words.map((word) => vocabulary[word.length % vocabulary.length] ?? ""),
          })),
        },
      };

test("every phrase of common words is found where the oracle finds it", async () => {
  await fc.assert(
    fc.asyncProperty(searchHistories(40, 120), searchQueries, async (history, query) => {
      using directory = temporaryDirectory("annals-search");
      const path = join(directory.path, "search.sqlite");
      const model = createSearchModel();
      const sink = openSqliteSearchSink({ path });
      for (const batch of batchesOf(history.map(withFewWords), [30, 1, 50])) {
        const upTo = batch.at(-1)?.position;
        if (upTo === undefined) continue;
        await sink.apply(batch, upTo);
        model.apply(batch, upTo);
      }
      await sink.close();
      const reader = openSqliteSearchReader(path, { threads: 1 });
      for (const words of phrases) {
        const { condition: _, ...everywhere } = query;
        const asked = { ...everywhere, expression: { kind: "phrase" as const, words } };
        expect(await reader.search(asked)).toEqual(model.search(asked));
      }
      await reader.close();
    }),
    { numRuns: 10, seed },
  );
});
