/**
 * The contract of every change log (src/log/change-log.ts). The test of an adapter calls
 * changeLogContract with a harness, and adds tests for its own details.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EMPTY_STREAM, position, revision, START } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { type ChangeLog, WrongRevision } from "../../src/log/change-log.ts";
import { bytes, entry, idOf, readEverything, readWholeStream, text } from "./change-log-driver.ts";
import { checkHistory, historyArbitrary } from "./change-log-model.ts";

/** The location of one log. */
export interface LogPlace {
  /** Every call opens the same log again, while earlier ones may still be open. */
  open(): Promise<ChangeLog>;
  /** Removes the location when all logs are closed. */
  remove(): Promise<void>;
}

export interface ChangeLogHarness {
  /** A location with an empty log. */
  createPlace(): Promise<LogPlace>;
  /** The largest record of the store: the limit of the port, unless the store has a lower one. */
  readonly recordBytesMax: number;
  /** Features that the store lacks are `false`; the test of the adapter states the reason. */
  readonly supports: {
    /** A rejected call writes nothing to any of its streams. */
    readonly atomicAcrossStreams: boolean;
    /** The n-th record of the log has position n. */
    readonly gaplessPositions: boolean;
    /** A repeated id gets the first response, whatever the append expects. */
    readonly idsUnderAnyExpectation: boolean;
    /** Concurrent calls are appended in their order, also those of different streams. */
    readonly orderAcrossStreams: boolean;
  };
  /** The most bytes of all records of one append; no limit if absent. */
  readonly appendBytesMax?: number;
}

export function changeLogContract(name: string, harness: ChangeLogHarness): void {
  const { supports } = harness;
  let place: LogPlace;
  let opened: ChangeLog[];
  let log: ChangeLog;

  async function open(): Promise<ChangeLog> {
    const another = await place.open();
    opened.push(another);
    return another;
  }

  async function reopen(): Promise<ChangeLog> {
    await Promise.all(opened.map((each) => each.close()));
    opened = [];
    return open();
  }

  describe(`change log: ${name}`, () => {
    beforeEach(async () => {
      place = await harness.createPlace();
      opened = [];
      log = await open();
    });

    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
      await place.remove();
    });

    describe("append", () => {
      test("the records of a stream get consecutive revisions, and the log has one order", async () => {
        const first = await log.append([entry("a", "any", "a0", "a1")]);
        const second = await log.append([entry("b", "any", "b0")]);
        const third = await log.append([entry("a", "any", "a2")]);

        const records = await readEverything(log);
        expect(records.map((r) => [r.stream, r.revision, text(r)])).toEqual([
          ["a", 0, "a0"],
          ["a", 1, "a1"],
          ["b", 0, "b0"],
          ["a", 2, "a2"],
        ]);
        const positions = records.map((r) => r.position);
        expect(positions).toEqual(positions.toSorted((x, y) => x - y));
        expect(new Set(positions).size).toBe(4);
        expect(first).toEqual([{ position: positions[1], revision: 1, repeated: false }]);
        expect(second).toEqual([{ position: positions[2], revision: 0, repeated: false }]);
        expect(third).toEqual([{ position: positions[3], revision: 2, repeated: false }]);
      });

      test(`positions start at 1 and ${supports.gaplessPositions ? "have no gaps" : "may have gaps"}`, async () => {
        await log.append([entry("a", "any", "a0", "a1"), entry("b", "any", "b0")]);
        await expect(log.append([entry("a", 7, "no")])).rejects.toThrow(WrongRevision);
        await log.append([entry("b", "any", "b1")]);
        const positions = (await readEverything(log)).map((r) => r.position);
        if (supports.gaplessPositions) expect(positions).toEqual([1, 2, 3, 4]);
        else expect(positions.every((at) => at > START)).toBe(true);
      });

      describe.each([
        { state: "an unknown stream", records: 0 },
        { state: "a stream of one record", records: 1 },
        { state: "a stream of three records", records: 3 },
      ])("an append to $state", ({ records }) => {
        test.each([-1, 0, 1, 2, 3])(
          "the append with expected revision %i succeeds only if that is the current one",
          async (expected) => {
            for (let i = 0; i < records; i++) await log.append([entry("a", "any", `old ${i}`)]);
            const actual = records - 1;
            const outcome = log.append([entry("a", expected, "new")]);
            if (expected === actual) {
              expect(await outcome).toMatchObject([{ revision: records, repeated: false }]);
              expect((await readWholeStream(log, "a")).map(text).at(-1)).toBe("new");
            } else {
              await expect(outcome).rejects.toThrow(WrongRevision);
              await expect(outcome).rejects.toMatchObject({ stream: "a", expected, actual });
              expect(await readWholeStream(log, "a")).toHaveLength(records);
            }
          },
        );

        test("the append with any expected revision succeeds", async () => {
          for (let i = 0; i < records; i++) await log.append([entry("a", "any", `old ${i}`)]);
          expect(await log.append([entry("a", "any", "new")])).toMatchObject([
            { revision: records },
          ]);
        });
      });

      test("one call appends to several streams in the order of its appends", async () => {
        const answers = await log.append([
          entry("a", -1, "a0", "a1"),
          entry("b", -1, "b0"),
          entry("c", "any", "c0"),
        ]);
        expect(answers.map((answer) => answer.revision)).toEqual([1, 0, 0]);
        const records = await readEverything(log);
        expect(records.map(text)).toEqual(["a0", "a1", "b0", "c0"]);
        expect(answers.map((answer) => answer.position)).toEqual(
          [1, 2, 3].map((i) => records[i]?.position),
        );
      });

      test("one call appends twice to the same stream, one after the other", async () => {
        const answers = await log.append([
          entry("a", -1, "a0"),
          entry("b", -1, "b0"),
          entry("a", 0, "a1"),
        ]);
        expect(answers.map((answer) => answer.revision)).toEqual([0, 0, 1]);
        expect((await readWholeStream(log, "a")).map(text)).toEqual(["a0", "a1"]);
      });

      test("a wrong revision rejects the whole call", async () => {
        await log.append([entry("b", -1, "b0")]);
        const call = log.append([
          entry("a", -1, "a0"),
          entry("b", -1, "rejected"),
          entry("c", -1, "c0"),
        ]);
        await expect(call).rejects.toMatchObject({ stream: "b", expected: -1, actual: 0 });
        expect((await readWholeStream(log, "b")).map(text)).toEqual(["b0"]);
        if (supports.atomicAcrossStreams) {
          expect((await readEverything(log)).map(text)).toEqual(["b0"]);
          // A rejected call also leaves no trace in the log's cache of streams.
          expect(await log.append([entry("a", -1, "a0")])).toMatchObject([{ revision: 0 }]);
        } else {
          // The appends to other streams are written completely or not at all.
          for (const stream of ["a", "c"]) {
            expect((await readWholeStream(log, stream)).length).toBeLessThanOrEqual(1);
          }
        }
      });

      test("a call that fails halfway writes nothing", async () => {
        const tooLarge = new Uint8Array(harness.recordBytesMax + 1);
        const call = log.append([
          entry("a", -1, "a0"),
          { stream: "b", expected: "any", records: [bytes("b0"), tooLarge] },
        ]);
        await expect(call).rejects.toMatchObject({ name: "CatalogError", code: "too_large" });
        expect(await readEverything(log)).toEqual([]);
        expect(await log.head()).toBe(START);
      });

      test("a rejected call does not affect concurrent calls", async () => {
        const tooLarge = new Uint8Array(harness.recordBytesMax + 1);
        const outcomes = await Promise.allSettled([
          log.append([entry("a", -1, "a0")]),
          log.append([entry("a", -1, "rejected")]),
          log.append([entry("a", 0, "a1")]),
          log.append([{ stream: "a", expected: "any", records: [tooLarge] }]),
          log.append([entry("b", 5, "rejected")]),
          log.append([entry("a", 1, "a2")]),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual([
          "fulfilled",
          "rejected",
          "fulfilled",
          "rejected",
          "rejected",
          "fulfilled",
        ]);
        expect((await readEverything(log)).map(text)).toEqual(["a0", "a1", "a2"]);
      });

      test("appends keep the order of their calls", async () => {
        const count = 300;
        const names = Array.from({ length: count }, (_, i) => String(i));
        await Promise.all(
          names.map((each, i) => log.append([entry(`stream ${i % 7}`, "any", each)])),
        );
        expect((await readEverything(log)).map(text)).toEqual(names);
      });

      test("one of two racing writers wins", async () => {
        const other = await open();
        for (let round = 0; round < 10; round++) {
          const outcomes = await Promise.allSettled([
            log.append([entry("a", round - 1, "one")]),
            other.append([entry("a", round - 1, "other")]),
          ]);
          const lost = outcomes.filter((outcome) => outcome.status === "rejected");
          expect(lost).toHaveLength(1);
          expect(lost[0]?.reason).toMatchObject({ name: "WrongRevision", actual: round });
        }
        expect(await readWholeStream(log, "a")).toHaveLength(10);
      });

      test("an empty call returns an empty result", async () => {
        expect(await log.append([])).toEqual([]);
        expect(await log.head()).toBe(START);
      });
    });

    describe("an append with an id", () => {
      test("a repeated id is appended once, and gets the first response", async () => {
        const [first] = await log.append([entry("a", -1, "a0", "a1").withId(1)]);
        await log.append([entry("b", "any", "b0")]);
        const [again] = await log.append([entry("a", -1, "a0", "a1").withId(1)]);
        expect(again).toEqual({ ...first, repeated: true });
        expect((await readEverything(log)).map(text)).toEqual(["a0", "a1", "b0"]);
      });

      test("concurrent repetitions of an id are appended once", async () => {
        const answers = await Promise.all([
          log.append([entry("a", -1, "a0").withId(1)]),
          log.append([entry("a", -1, "a0").withId(1)]),
        ]);
        expect(answers.map(([answer]) => answer?.repeated).sort()).toEqual([false, true]);
        expect(answers[0]?.[0]?.position).toBe(answers[1]?.[0]?.position);
        expect(await readEverything(log)).toHaveLength(1);
      });

      test("an id is known after the log is closed and reopened", async () => {
        const [first] = await log.append([entry("a", -1, "a0").withId(1)]);
        const later = await reopen();
        expect(await later.append([entry("a", -1, "a0").withId(1)])).toEqual([
          { ...first, repeated: true },
        ]);
        expect(await readEverything(later)).toHaveLength(1);
      });

      test("another stream or another id is another append", async () => {
        await log.append([entry("b", "any", "old"), entry("a", "any", "a0").withId(1)]);
        const answers = await log.append([
          entry("b", "any", "b0").withId(1),
          entry("a", "any", "a1").withId(2),
        ]);
        expect(answers.map((answer) => answer.repeated)).toEqual([false, false]);
        expect((await readEverything(log)).map(text)).toEqual(["old", "a0", "b0", "a1"]);
      });

      test("one call may contain repeated and new appends", async () => {
        const [first] = await log.append([entry("a", -1, "a0").withId(1)]);
        const answers = await log.append([
          entry("a", -1, "a0").withId(1),
          entry("b", -1, "b0").withId(2),
        ]);
        expect(answers).toMatchObject([
          { ...first, repeated: true },
          { revision: 0, repeated: false },
        ]);
        expect((await readEverything(log)).map(text)).toEqual(["a0", "b0"]);
      });

      test("the id of a rejected call is not known", async () => {
        const rejected = log.append([entry("a", 4, "a0").withId(1)]);
        await expect(rejected).rejects.toThrow(WrongRevision);
        expect(await log.append([entry("a", -1, "a0").withId(1)])).toMatchObject([
          { revision: 0, repeated: false },
        ]);
      });

      test.runIf(supports.idsUnderAnyExpectation)(
        "a repeated id is known whatever it expects, and whatever the stream's revision is",
        async () => {
          const [first] = await log.append([entry("a", "any", "a0").withId(1)]);
          await log.append([entry("a", "any", "a1")]);
          for (const expected of ["any", -1, 1, 17] as const) {
            const [again] = await log.append([entry("a", expected, "changed").withId(1)]);
            expect(again).toEqual({ ...first, repeated: true });
          }
          expect((await readEverything(log)).map(text)).toEqual(["a0", "a1"]);
        },
      );

      test.runIf(supports.idsUnderAnyExpectation)(
        "an id that one call contains twice is appended once",
        async () => {
          const answers = await log.append([
            entry("a", -1, "a0").withId(1),
            entry("a", -1, "a0").withId(1),
          ]);
          expect(answers.map((answer) => answer.repeated)).toEqual([false, true]);
          expect(answers[0]?.position).toBe(answers[1]?.position);
          expect(await readEverything(log)).toHaveLength(1);
        },
      );

      test.runIf(!supports.idsUnderAnyExpectation)(
        "a repetition that expects another revision is rejected or appended with a result that shows it",
        async () => {
          await log.append([entry("a", -1, "a0").withId(1)]);
          const [again] = await log.append([entry("a", "any", "a0").withId(1)]);
          const records = await readEverything(log);
          expect(records).toHaveLength(again?.repeated ? 1 : 2);
        },
      );
    });

    describe("what goes in", () => {
      test("records are returned byte for byte", async () => {
        const every = Uint8Array.from({ length: 256 }, (_, i) => i);
        const records = [every, new Uint8Array(0), every.toReversed()];
        await log.append([{ stream: "a", expected: "any", records }]);
        const read = await readWholeStream(log, "a");
        expect(read.map((r) => [...r.data])).toEqual(records.map((r) => [...r]));
      });

      test("many records of 1 MB are appended and read", async () => {
        const records = [1, 2, 3, 4].map((fill) => new Uint8Array(1_000_000).fill(fill));
        const atOnce = (harness.appendBytesMax ?? Number.POSITIVE_INFINITY) > 4_100_000;
        if (atOnce) await log.append([{ stream: "a", expected: "any", records }]);
        for (const each of atOnce ? [] : records) {
          await log.append([{ stream: "a", expected: "any", records: [each] }]);
        }
        const read = await readWholeStream(log, "a");
        expect(read.map((r) => [r.data.length, r.data[0], r.data.at(-1)])).toEqual([
          [1_000_000, 1, 1],
          [1_000_000, 2, 2],
          [1_000_000, 3, 3],
          [1_000_000, 4, 4],
        ]);
      });

      test("the largest record is accepted, and one byte more is rejected", async () => {
        const largest = new Uint8Array(harness.recordBytesMax).fill(7);
        await log.append([{ stream: "a", expected: "any", records: [largest] }]);
        const [read] = await log.readStream("a", revision(0), { limit: 1 });
        expect(Buffer.compare(read?.data ?? new Uint8Array(), largest)).toBe(0);
        const over = new Uint8Array(harness.recordBytesMax + 1);
        await expect(
          log.append([{ stream: "a", expected: "any", records: [over] }]),
        ).rejects.toMatchObject({ code: "too_large" });
        expect((await log.readStream("a", "end", { limit: 1, backward: true }))[0]?.revision).toBe(
          0,
        );
      });

      test("names of streams may contain any character", async () => {
        const urns = [
          "urn:li:dataset:(urn:li:dataPlatform:hive,a b/c%2Cd#e?f&g=h+i,PROD)",
          "urn:li:dataset:(urn:li:dataPlatform:s3,straße/東京/🚀/é,PROD)",
          "urn:li:dataset:(urn:li:dataPlatform:s3,straße/東京/🚀/e\u0301,PROD)",
          'urn:li:tag:it\'s "quoted" `x` \\ ; -- /* */ $all [1] {2} <3> %_* ',
          'urn:li:tag:it\'s "quoted" `x` \\ ; -- /* */ $all [1] {2} <3> %_*',
          "urn:li:tag:Case",
          "urn:li:tag:case",
          `urn:li:tag:${"long ".repeat(400)}`,
        ];
        const streams = urns.flatMap((urn) => [
          entityStream(urn),
          timeseriesStream(urn, "datasetProfile"),
        ]);
        for (const stream of streams) await log.append([entry(stream, -1, stream)]);
        expect((await readEverything(log)).map((r) => r.stream)).toEqual(streams);
        for (const stream of streams) {
          expect((await readWholeStream(log, stream)).map((r) => [r.stream, text(r)])).toEqual([
            [stream, stream],
          ]);
        }
      });
    });

    describe("an empty log", () => {
      test("an empty log returns no records, and its head is START", async () => {
        expect(await log.head()).toBe(START);
        for (const backward of [false, true]) {
          const froms = supports.gaplessPositions ? [START, position(5), "end"] : [START, "end"];
          for (const from of froms as readonly (typeof START | "end")[]) {
            expect(await log.readAll(from, { limit: 10, backward })).toEqual([]);
          }
          for (const from of [EMPTY_STREAM, revision(0), revision(5), "end"] as const) {
            expect(await log.readStream("a", from, { limit: 10, backward })).toEqual([]);
          }
        }
      });
    });

    describe("reads", () => {
      const all = ["a0", "a1", "b0", "a2", "c0", "c1", "c2", "c3", "b1", "a3"];

      beforeEach(async () => {
        await log.append([entry("a", -1, "a0", "a1")]);
        await log.append([entry("b", -1, "b0"), entry("a", 1, "a2")]);
        await log.append([entry("c", -1, "c0", "c1", "c2", "c3")]);
        await log.append([entry("b", 0, "b1")]);
        await log.append([entry("a", 2, "a3")]);
      });

      test("reads return the right records for every limit and every position in both directions", async () => {
        const records = await readEverything(log);
        expect(records.map(text)).toEqual(all);
        const froms = [START, ...records.map((r) => r.position)];
        for (const [index, from] of froms.entries()) {
          for (const limit of [1, 2, 3, 100]) {
            const after = await log.readAll(from, { limit });
            expect(after).toEqual(records.slice(index, index + limit));
            const before = await log.readAll(from, { limit, backward: true });
            const end = Math.max(index - 1, 0);
            expect(before).toEqual(records.slice(0, end).toReversed().slice(0, limit));
          }
        }
      });

      test("reads from the head return nothing forward and the newest records backward", async () => {
        expect(await log.readAll("end", { limit: 3 })).toEqual([]);
        const newest = await log.readAll("end", { limit: 3, backward: true });
        expect(newest.map(text)).toEqual(["a3", "b1", "c3"]);
        const whole = await log.readAll("end", { limit: 100, backward: true });
        expect(whole.map(text)).toEqual(all.toReversed());
      });

      test("reads from beyond the head return nothing forward and the newest records backward", async () => {
        const beyond = position((await log.head()) + 1_000);
        expect(await log.readAll(beyond, { limit: 3 })).toEqual([]);
        const newest = await log.readAll(beyond, { limit: 2, backward: true });
        expect(newest.map(text)).toEqual(["a3", "b1"]);
        expect(await log.readStream("c", revision(900), { limit: 3 })).toEqual([]);
        const last = await log.readStream("c", revision(900), { limit: 2, backward: true });
        expect(last.map(text)).toEqual(["c3", "c2"]);
      });

      test.runIf(!supports.gaplessPositions)(
        "reads from between two records are invalid, and the error names the position",
        async () => {
          const [first] = await readEverything(log);
          const between = position((first?.position ?? START) + 1);
          for (const backward of [false, true]) {
            await expect(log.readAll(between, { limit: 3, backward })).rejects.toMatchObject({
              code: "invalid",
              message: expect.stringContaining(`position ${between} is not`),
              hint: "Continue with a position that the service returned",
            });
          }
          const tail = Array.fromAsync(log.tail(between, new AbortController().signal));
          await expect(tail).rejects.toMatchObject({ code: "invalid" });
        },
      );

      test.each([
        "reads of stream %s return the right records for every limit and every revision",
        "b",
        "c",
      ])("give every limit of stream %s from every revision", async (s) => {
        const records = (await readEverything(log)).filter((r) => r.stream === s);
        expect(records.map((r) => r.revision)).toEqual(records.map((_, i) => i));
        for (let from = -1; from <= records.length; from++) {
          for (const limit of [1, 2, 100]) {
            const at = Math.max(from, 0);
            const after = await log.readStream(s, revision(from), { limit });
            expect(after).toEqual(records.slice(at, at + limit));
            const before = await log.readStream(s, revision(from), { limit, backward: true });
            expect(before).toEqual(
              records
                .slice(0, from + 1)
                .toReversed()
                .slice(0, limit),
            );
          }
        }
        const newest = await log.readStream(s, "end", { limit: 2, backward: true });
        expect(newest).toEqual(records.toReversed().slice(0, 2));
        expect(await log.readStream(s, "end", { limit: 2 })).toEqual([]);
      });

      test("a read of an unknown stream returns nothing", async () => {
        expect(await log.readStream("A", revision(0), { limit: 10 })).toEqual([]);
        expect(await log.readStream("", "end", { limit: 10, backward: true })).toEqual([]);
      });

      test("the head is the position of the last record", async () => {
        expect(await log.head()).toBe((await readEverything(log)).at(-1)?.position);
      });

      test("reads return records that were appended through another handle of the log", async () => {
        const other = await open();
        const [answer] = await other.append([entry("d", -1, "d0")]);
        expect(await log.head()).toBe(answer?.position);
        expect((await readWholeStream(log, "d")).map(text)).toEqual(["d0"]);
        expect(await log.append([entry("d", 0, "d1")])).toMatchObject([{ revision: 1 }]);
      });

      test("all records are unchanged after the log is closed and reopened", async () => {
        const before = await readEverything(log);
        const later = await reopen();
        expect(await readEverything(later)).toEqual(before);
        const [answer] = await later.append([entry("a", 3, "a4")]);
        expect(answer?.revision).toBe(4);
        expect(answer?.position).toBeGreaterThan(before.at(-1)?.position ?? 0);
      });
    });

    describe("the names of streams", () => {
      const named = ["a", "b-1", "b-10", "b-2", "b-\u00e9", "b-\uff5e", "b-\u{1d49c}", "b.", "c"];
      const some = named.filter((name) => name.startsWith("b-"));

      beforeEach(async () => {
        for (const name of named.toReversed()) await log.append([entry(name, "any", "x", "y")]);
      });

      test("the names of streams are returned in byte order, page by page", async () => {
        expect(await log.listStreams("b-", { limit: 100 })).toEqual(some);
        const pages: string[] = [];
        for (;;) {
          const page = await log.listStreams("b-", { after: pages.at(-1), limit: 2 });
          expect(page.length).toBeLessThanOrEqual(2);
          if (page.length === 0) break;
          pages.push(...page);
        }
        expect(pages).toEqual(some);
      });

      test("a page of names may begin after a name that is not a stream, or at the start", async () => {
        expect(await log.listStreams("b-", { after: "b-100", limit: 1 })).toEqual(["b-2"]);
        expect(await log.listStreams("b-", { after: "a", limit: 1 })).toEqual(["b-1"]);
        expect(await log.listStreams("b-", { after: "c", limit: 1 })).toEqual([]);
        expect(await log.listStreams("z", { limit: 1 })).toEqual([]);
        expect(await log.listStreams("", { limit: 100 })).toEqual(named);
      });
    });

    describe("tail", () => {
      test("a tail returns existing and then new records without gaps or repetitions", async () => {
        const count = 500;
        const half = count / 2;
        for (let i = 0; i < half; i++) void log.append([entry(`s${i % 5}`, "any", String(i))]);
        const stop = new AbortController();
        const seen: string[] = [];
        const positions: number[] = [];
        const writing = (async () => {
          for (let i = half; i < count; i++) {
            const call = log.append([entry(`s${i % 5}`, "any", String(i))]);
            if (i % 10 === 0) await call;
          }
        })();
        for await (const page of log.tail(START, stop.signal)) {
          expect(page.length).toBeGreaterThan(0);
          seen.push(...page.map(text));
          positions.push(...page.map((r) => r.position));
          if (seen.length >= count) stop.abort();
        }
        await writing;
        expect(seen).toEqual(Array.from({ length: count }, (_, i) => String(i)));
        expect(positions).toEqual((await readEverything(log)).map((r) => r.position));
      });

      test("a tail begins after the given position", async () => {
        await log.append([entry("a", "any", "a0", "a1", "a2")]);
        const [, second] = await readEverything(log);
        const stop = new AbortController();
        const seen: string[] = [];
        for await (const page of log.tail(second?.position ?? START, stop.signal)) {
          seen.push(...page.map(text));
          if (seen.length === 1) await log.append([entry("b", "any", "b0")]);
          if (seen.length === 2) stop.abort();
        }
        expect(seen).toEqual(["a2", "b0"]);
      });

      test("a tail returns records that are appended through another handle of the log", async () => {
        const other = await open();
        const stop = new AbortController();
        const seen: string[] = [];
        setTimeout(() => void other.append([entry("a", "any", "later")]), 30);
        for await (const page of log.tail(START, stop.signal)) {
          seen.push(...page.map(text));
          stop.abort();
        }
        expect(seen).toEqual(["later"]);
      });

      test("several tails run at once", async () => {
        const stop = new AbortController();
        const follow = async (): Promise<string[]> => {
          const seen: string[] = [];
          for await (const page of log.tail(START, stop.signal)) {
            seen.push(...page.map(text));
            if (seen.length >= 20) return seen;
          }
          return seen;
        };
        const following = Promise.all([follow(), follow(), follow()]);
        const expected = Array.from({ length: 20 }, (_, i) => String(i));
        for (const each of expected) await log.append([entry("a", "any", each)]);
        expect(await following).toEqual([expected, expected, expected]);
      });

      test("an aborted signal ends a tail at once, before the start, while it waits and between pages", async () => {
        const before = log.tail(START, AbortSignal.abort());
        expect(await Array.fromAsync(before)).toEqual([]);

        const waiting = new AbortController();
        const ending = Array.fromAsync(log.tail(START, waiting.signal));
        setTimeout(() => waiting.abort(), 20);
        expect(await ending).toEqual([]);

        await log.append([entry("a", "any", "a0")]);
        const between = new AbortController();
        const pages: string[][] = [];
        for await (const page of log.tail(START, between.signal)) {
          pages.push(page.map(text));
          await log.append([entry("a", "any", "a1")]);
          between.abort();
        }
        expect(pages).toEqual([["a0"]]);
      });

      test("a tail ends without an error when the log closes", async () => {
        const { signal } = new AbortController();
        const ending = Array.fromAsync(log.tail(START, signal));
        setTimeout(() => void log.close(), 20);
        expect(await ending).toEqual([]);
      });
    });

    describe("close", () => {
      test("a close waits for running appends", async () => {
        const calls = Array.from({ length: 50 }, (_, i) =>
          log.append([entry("a", "any", String(i))]),
        );
        await log.close();
        expect(await Promise.all(calls)).toHaveLength(50);
        const later = await reopen();
        expect(await readWholeStream(later, "a")).toHaveLength(50);
      });

      test("a closed log rejects every call as unavailable", async () => {
        await log.append([entry("a", "any", "a0")]);
        const closing = log.close();
        const rejected = { name: "CatalogError", code: "unavailable" };
        // 1. While the log closes.
        await expect(log.append([entry("a", "any", "a1")])).rejects.toMatchObject(rejected);
        await closing;
        // 2. After the log is closed.
        await expect(log.append([entry("a", "any", "a1")])).rejects.toMatchObject(rejected);
        await expect(log.append([])).rejects.toMatchObject(rejected);
        await expect(log.readAll(START, { limit: 1 })).rejects.toMatchObject(rejected);
        await expect(log.readStream("a", "end", { limit: 1 })).rejects.toMatchObject(rejected);
        await expect(log.head()).rejects.toMatchObject(rejected);
        const tail = Array.fromAsync(log.tail(START, new AbortController().signal));
        await expect(tail).rejects.toMatchObject(rejected);
      });

      test("closing twice is allowed", async () => {
        await Promise.all([log.close(), log.close()]);
        await log.close();
      });
    });

    test("the log equals a simple model after any history", async () => {
      await fc.assert(
        fc.asyncProperty(historyArbitrary(supports), async (history) => {
          const fresh = await harness.createPlace();
          const random = await fresh.open();
          try {
            await checkHistory(random, history, supports);
          } finally {
            await random.close();
            await fresh.remove();
          }
        }),
        { numRuns: 25 },
      );
    });

    test("scavenging removes the first records of a stream, and the rest of the log stays unchanged", async () => {
      for (let i = 0; i < 4; i++) {
        await log.append([entry("a", i - 1, `a${i}`).withId(i), entry("b", i - 1, `b${i}`)]);
      }
      const before = await readEverything(log);
      const gone = before.filter(({ stream, revision: at }) => stream === "a" && at < 3);
      const emptied = gone.map((record) => ({ ...record, data: bytes("-") }));
      const others = before.filter((record) => !gone.includes(record));
      expect(await log.scavenge?.(emptied)).toMatchObject({ records: 3 });
      for (const again of [open, reopen]) {
        const one = await again();
        const after = await readEverything(one);
        expect(after.filter(({ stream }) => stream === "b")).toEqual(
          others.filter(({ stream }) => stream === "b"),
        );
        const rest = await readWholeStream(one, "a");
        expect(rest.at(-1)).toEqual(others.findLast(({ stream }) => stream === "a"));
        // The replacement is at the position of the removed record in stores that keep such
        // positions.
        const left = rest.slice(0, -1).map((record) => [record.position, text(record)]);
        expect([[], emptied.map(({ position: at }) => [at, "-"])]).toContainEqual(left);
      }
      const later = await reopen();
      expect(await later.scavenge?.(emptied)).toEqual({ records: 0, bytes: 0 });
      expect(await later.append([entry("a", 3, "a3").withId(3)])).toMatchObject([
        { revision: 3, repeated: true },
      ]);
      expect(await later.append([entry("a", 3, "a4")])).toMatchObject([{ revision: 4 }]);
      await later.close();
      await expect(later.scavenge?.(emptied)).rejects.toMatchObject({ code: "unavailable" });
    });

    test("ids of 16 bytes differ if any of their bytes differs", async () => {
      const ids = Array.from({ length: 16 }, (_, i) => idOf(0).fill(1, i, i + 1));
      for (const id of ids) {
        const [answer] = await log.append([
          { stream: "a", expected: "any", records: [bytes("x")], id },
        ]);
        expect(answer?.repeated).toBe(false);
      }
      expect(await readWholeStream(log, "a")).toHaveLength(16);
    });
  });
}
