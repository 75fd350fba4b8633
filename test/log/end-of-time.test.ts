/** Finding a time in the log: the answer, and the number of reads. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { positionBefore } from "../../src/catalog/changes/position-before.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { type Position, position, START } from "../../src/core/position.ts";
import { auditStream, entityStream, JOBS } from "../../src/core/stream.ts";
import type { ChangeLog, LogRecord } from "../../src/log/change-log.ts";
import { encodeAudit } from "../../src/log/codecs/audit-codec.ts";
import { endOfTime } from "../../src/log/end-of-time.ts";

interface Entry {
  readonly kind: "change" | "audit" | "job";
  readonly time: number;
}

const streams = { change: entityStream("urn:li:tag:a"), audit: auditStream("day"), job: JOBS };

const auditRecord = (time: number): Uint8Array =>
  encodeAudit({
    ...{ time, action: "a", outcome: "allowed", count: 1 },
    ...{ actor: null, address: null, urn: null, detail: null },
  });

/** A log of these entries. With gaps, only every tenth position is that of a record. */
function open(entries: readonly Entry[], gaps = false) {
  const step = gaps ? 10 : 1;
  let reads = 0;
  const recordAt = (index: number): LogRecord => {
    const { kind, time } = entries[index] as Entry;
    return {
      ...{ position: position((index + 1) * step), stream: streams[kind], revision: 0 as never },
      data: kind === "audit" ? auditRecord(time) : new Uint8Array(0),
    };
  };
  const log: Pick<ChangeLog, "readAll" | "head" | "countBetween"> = {
    head: async () => position(entries.length * step),
    async readAll(from, { limit, backward }) {
      reads++;
      const at = from === "end" ? entries.length + 1 : from / step;
      expect(Number.isInteger(at)).toBe(true);
      const [begin, end] = backward ? [at - 1 - limit, at - 1] : [at, at + limit];
      const page: LogRecord[] = [];
      for (let i = Math.max(0, begin); i < Math.min(end, entries.length); i++) {
        page.push(recordAt(i));
      }
      return backward ? page.reverse() : page;
    },
    ...(gaps && { countBetween: (after: Position, upTo: Position) => (upTo - after) / step }),
  };
  const decode = ({ position: at, stream }: LogRecord) => {
    const time = entries[at / step - 1]?.time;
    return stream === streams.change ? ({ created: { time } } as PlacedChange) : undefined;
  };
  return { log, decode, reads: () => reads };
}

/** The last change that is older than the time, by a scan of the log. */
const scanned = (entries: readonly Entry[], time: number): number =>
  entries.findLastIndex((one) => one.kind === "change" && one.time < time) + 1;

const changes = (count: number): readonly Entry[] =>
  Array.from({ length: count }, (_, i) => ({ kind: "change", time: i * 10 }));

test.each([0.001, 0.1, 0.5, 0.9, 0.999])(
  "a time after %s of a long log is found in few reads",
  async (part) => {
    const entries = changes(200_000);
    const { reads, ...parts } = open(entries);
    const time = part * 2_000_000;
    expect(await positionBefore(time, parts)).toBe(scanned(entries, time));
    expect(reads()).toBeLessThan(20);
  },
);

const entries = fc
  .array(
    fc.record({
      kind: fc.constantFrom("change", "change", "audit", "job"),
      count: fc.integer({ min: 1, max: 2_000 }),
      pace: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((runs) => {
    const all: Entry[] = [];
    let time = 1_000;
    for (const { kind, count, pace } of runs) {
      for (let i = 0; i < count; i++, time += pace) all.push({ kind, time });
    }
    return all;
  });

test.each([false, true])(
  "the position before a time is that of a scan, with gaps: %s",
  async (gaps) => {
    await fc.assert(
      fc.asyncProperty(
        ...[entries, fc.double({ min: 0, max: 1, noNaN: true })],
        async (ascending, part) => {
          // Times of concurrent appends descend a little.
          const all = ascending.map((one, i) => ({ ...one, time: one.time + (i % 7) }));
          const time = 999 + Math.round(part * ((all.at(-1)?.time ?? 0) - 990));
          const found = await positionBefore(time, open(all, gaps));
          expect(found).toBe(scanned(all, time) * (gaps ? 10 : 1));
        },
      ),
      { numRuns: 60 },
    );
  },
);

test("a long run of records without a time does not end the search", async () => {
  const jobs = Array.from({ length: 5_000 }, (): Entry => ({ kind: "job", time: 0 }));
  const parts = open([...changes(1_000), ...jobs, { kind: "audit", time: 10_000 }]);
  expect(await endOfTime(10_000, parts)).toBe("end");
  const end = Number(await endOfTime(2_000, parts));
  expect(end).toBeGreaterThan(201);
  expect(end).toBeLessThanOrEqual(1_201);
  expect(await endOfTime(-1, parts)).toBeLessThanOrEqual(1_000);
});

test("an empty log has no position before a time", async () => {
  expect(await positionBefore(5, open([]))).toBe(START);
});
