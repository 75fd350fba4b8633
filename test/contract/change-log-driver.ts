/** Helpers for tests of change logs: appends and records as text, and reads to the end. */
import { type Revision, revision, START } from "../../src/core/position.ts";
import type { Append, ChangeLog, LogRecord } from "../../src/log/change-log.ts";

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

export const text = (record: LogRecord): string => Buffer.from(record.data).toString();

/** A 16-byte id for each number. */
export function idOf(number: number): Uint8Array {
  const id = new Uint8Array(16);
  new DataView(id.buffer).setUint32(12, number);
  return id;
}

/** An append of texts; `withId` sets its id. */
export function entry(
  stream: string,
  expected: number | "any",
  ...texts: readonly string[]
): Append & { withId(number: number): Append } {
  const append: Append = {
    stream,
    expected: expected === "any" ? expected : revision(expected),
    records: texts.map(bytes),
  };
  return { ...append, withId: (number) => ({ ...append, id: idOf(number) }) };
}

const PAGE = 100;

export async function readEverything(log: ChangeLog): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const page = await log.readAll(records.at(-1)?.position ?? START, { limit: PAGE });
    if (page.length === 0) return records;
    records.push(...page);
  }
}

export async function readWholeStream(
  log: ChangeLog,
  stream: string,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const from: Revision = revision((records.at(-1)?.revision ?? -1) + 1);
    const page = await log.readStream(stream, from, { limit: PAGE });
    if (page.length === 0) return records;
    records.push(...page);
  }
}
