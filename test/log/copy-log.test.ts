import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EMPTY_STREAM, position, type Revision, revision } from "../../src/core/position.ts";
import {
  entityStream,
  parkingStream,
  timeseriesStream,
  truncationStream,
} from "../../src/core/stream.ts";
import type { ChangeLog, LogRecord } from "../../src/log/change-log.ts";
import { copyLog } from "../../src/log/copy-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { bytes, entry, readEverything } from "../contract/change-log-driver.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
let from: ChangeLog;
let to: ChangeLog;

beforeEach(async () => {
  directory = temporaryDirectory("annals-copy");
  [from, to] = (await Promise.all(
    ["from", "to"].map((name) =>
      openSqliteChangeLog({ file: join(directory.path, `${name}.sqlite`) }),
    ),
  )) as [ChangeLog, ChangeLog];
});

afterEach(async () => {
  await from.close();
  await to.close();
  directory[Symbol.dispose]();
});

const a = "urn:li:tag:a";
const b = "urn:li:tag:b";
const contents = ({ stream, revision: at, data }: LogRecord) => [
  stream,
  at,
  Buffer.from(data).toString(),
];
const ofStream = (records: readonly LogRecord[], name: string) =>
  records.filter(({ stream }) => stream === name).map(contents);

async function fill(): Promise<void> {
  await from.append([entry(entityStream(a), -1, "a0", "a1"), entry(entityStream(b), -1, "b0")]);
  await from.append([entry(timeseriesStream(a, "profile"), "any", "t0")]);
  await from.append([entry(truncationStream("tag", "profile"), "any", "cut")]);
  await from.append([entry(timeseriesStream(a, "profile"), "any", "t1")]);
  await from.append([entry(timeseriesStream(a, "$relationships"), "any", "forget")]);
  await from.append([entry(entityStream(a), 1, "a2"), entry("jobs", "any", "job")]);
  await from.append([entry(parkingStream("graph"), "any", "parked")]);
}

describe("a copied log", () => {
  test("a copied log has every stream with its records, and keeps the order of records that affect other streams", async () => {
    await fill();
    expect(await copyLog(from, to)).toEqual({ copied: 9, there: 0 });
    const [was, is] = [await readEverything(from), await readEverything(to)];
    const streams = new Set(was.map(({ stream }) => stream));
    streams.delete(parkingStream("graph"));
    for (const name of streams) expect(ofStream(is, name)).toEqual(ofStream(was, name));
    expect(is).toHaveLength(9);
    const order = is.map(({ data }) => Buffer.from(data).toString());
    expect(order.filter((text) => /^[ta]|cut|forget/.test(text))).toEqual([
      "a0",
      "a1",
      "t0",
      "cut",
      "t1",
      "forget",
      "a2",
    ]);
  });

  test("a copy continues after an interruption, and includes records appended since", async () => {
    await fill();
    let calls = 0;
    const cutOff: Pick<ChangeLog, "append" | "readStream"> = {
      append(appends) {
        if (++calls > 4) throw new Error("cut off");
        return to.append(appends);
      },
      readStream: to.readStream,
    };
    await expect(copyLog(from, cutOff)).rejects.toThrow("cut off");
    await from.append([entry(entityStream(b), 0, "b1")]);
    const { copied, there } = await copyLog(from, to);
    expect(there).toBeGreaterThan(0);
    expect(copied + there).toBe(10);
    expect(await copyLog(from, to)).toEqual({ copied: 0, there: 10 });
    const records = await readEverything(to);
    expect(records).toHaveLength(10);
    expect(ofStream(records, entityStream(b))).toEqual(
      ofStream(await readEverything(from), entityStream(b)),
    );
  });

  test("a copy into a log with other records is rejected", async () => {
    await fill();
    await to.append([entry(entityStream(a), -1, "other")]);
    const rejected = { code: "conflict", message: expect.stringContaining(entityStream(a)) };
    await expect(copyLog(from, to)).rejects.toMatchObject(rejected);
  });

  test("a copy splits large streams into appends that the log accepts", async () => {
    const sizes: number[] = [];
    const large = "x".repeat(400_000);
    let expected: Revision = EMPTY_STREAM;
    for (let n = 0; n < 6; n++) {
      await from.append([{ stream: entityStream(a), expected, records: [bytes(large)] }]);
      expected = revision(n);
    }
    const progress: number[] = [];
    await copyLog(
      from,
      {
        append(appends) {
          sizes.push(
            ...appends.map(({ records }) => records.reduce((sum, one) => sum + one.length, 0)),
          );
          return to.append(appends);
        },
        readStream: to.readStream,
      },
      (at) => progress.push(at.position),
    );
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
    expect(sizes.length).toBeLessThan(6);
    expect(progress.at(-1)).toBe(position(6));
    expect(await readEverything(to)).toHaveLength(6);
  });
});
