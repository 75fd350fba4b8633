import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type IngestOptions, ingest } from "../../src/cli/commands/catalog/ingest.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import { freeAddress, openRecordingCatalog } from "./recording-catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "annals-ingest-"));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;

function fileOf(text: string): string {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, text);
  return path;
}

const tagUrn = (n: number | string): string => `urn:li:tag:${n}`;

const proposal = (n: number | string, description = "d"): object => ({
  entityType: "tag",
  entityUrn: tagUrn(n),
  changeType: "UPSERT",
  aspectName: "tagProperties",
  aspect: { json: { name: String(n), description } },
});

const snapshot = (n: number | string): object => ({
  proposedSnapshot: {
    "com.linkedin.metadata.snapshot.TagSnapshot": {
      urn: tagUrn(n),
      aspects: [{ "com.linkedin.common.Status": { removed: false } }],
    },
  },
  systemMetadata: { lastObserved: 7, runId: "told" },
});

interface Ended {
  readonly code: number;
  readonly printed: readonly string[];
  readonly notes: readonly string[];
}

async function run(
  options: Partial<IngestOptions> & Pick<IngestOptions, "files" | "server">,
  signal: AbortSignal = new AbortController().signal,
): Promise<Ended> {
  const printed: string[] = [];
  const notes: string[] = [];
  const terminal: Terminal = {
    print: async (line) => void printed.push(line),
    note: (line) => void notes.push(line),
    startBar: () => ({ update: () => {}, stop: () => {} }),
  };
  const defaults = { batch: 500, concurrency: 4, retryDelayMs: 1 };
  const code = await ingest({ ...defaults, ...options }, { terminal, signal });
  return { code, printed, notes };
}

test("proposals and snapshots of an array are sent as two batches, in order", async () => {
  await using catalog = await openRecordingCatalog();
  const file = fileOf(JSON.stringify([snapshot(1), snapshot(2), proposal(3), proposal(3, "e")]));
  const { code, printed, notes } = await run({
    files: [file],
    server: catalog.address,
    concurrency: 1,
  });
  expect({ code, notes }).toEqual({ code: 0, notes: [] });
  expect(
    catalog.received.map(({ path, members }) => [path, members.map(({ urn }) => urn)]),
  ).toEqual([
    ["/entities?action=batchIngest", [tagUrn(1), tagUrn(2)]],
    ["/aspects?action=ingestProposalBatch", [tagUrn(3), tagUrn(3)]],
  ]);
  expect(catalog.accepted()[0]?.systemMetadata).toEqual({ lastObserved: 7, runId: "told" });
  expect(printed).toHaveLength(1);
  expect(printed[0]).toMatch(
    /^ingested 4 records \(4 aspects\), 0 failed, in [\d.]+ s \(\d+ records\/s\), last log position 4, run id annals-/,
  );
});

test("a run id replaces that of every record", async () => {
  await using catalog = await openRecordingCatalog();
  const file = fileOf(`${JSON.stringify(snapshot(1))}\n${JSON.stringify(proposal(2))}`);
  const { printed } = await run({ files: [file], server: catalog.address, runId: "mine" });
  const runs = catalog.accepted().map(({ systemMetadata }) => systemMetadata);
  expect(runs).toContainEqual({ lastObserved: 7, runId: "mine" });
  expect(runs).toContainEqual({ runId: "mine" });
  expect(printed[0]).toContain("run id mine");
});

test("records about one urn arrive in the order of the files, despite concurrency", async () => {
  await using catalog = await openRecordingCatalog();
  const lines = (from: number): string =>
    Array.from({ length: 300 }, (_, i) => JSON.stringify(proposal(i % 7, String(from + i)))).join(
      "\n",
    );
  const both = [fileOf(lines(0)), fileOf(lines(300))];
  const { code } = await run({ files: both, server: catalog.address, batch: 10 });
  expect(code).toBe(0);
  expect(catalog.received.length).toBeGreaterThanOrEqual(60);
  for (let n = 0; n < 7; n++) {
    const descriptions = catalog
      .accepted()
      .filter(({ urn }) => urn === tagUrn(n))
      .map(({ body }) => JSON.parse((body.aspect as { value: string }).value).description);
    expect(descriptions).toEqual([...descriptions].sort((a, b) => a - b));
    expect(descriptions.length).toBeGreaterThan(80);
  }
});

test("only the invalid records are reported, with file, number, urn and cause", async () => {
  await using catalog = await openRecordingCatalog({
    reject: (members) => {
      const bad = members.findIndex(({ urn }) => urn.includes("bad"));
      if (bad < 0) return undefined;
      return { status: 422, message: `member ${bad}: tag "${members[bad]?.urn}" is bad` };
    },
  });
  const names = Array.from({ length: 40 }, (_, i) =>
    i === 3 || i === 27 ? `bad${i}` : `good${i}`,
  );
  const file = fileOf(JSON.stringify(names.map((name) => proposal(name))));
  const { code, printed, notes } = await run({ files: [file], server: catalog.address });
  expect(code).toBe(1);
  expect([...notes].sort()).toEqual([
    `${file}: record 28: urn:li:tag:bad27: member 0: tag "urn:li:tag:bad27" is bad`,
    `${file}: record 4: urn:li:tag:bad3: member 0: tag "urn:li:tag:bad3" is bad`,
  ]);
  expect(printed[0]).toContain("ingested 38 records (38 aspects), 2 failed");
  expect(
    catalog
      .accepted()
      .map(({ urn }) => urn)
      .sort(),
  ).toEqual(
    names
      .filter((name) => name.startsWith("good"))
      .map(tagUrn)
      .sort(),
  );
});

test("an invalid line fails only its own record", async () => {
  await using catalog = await openRecordingCatalog();
  const lines = [JSON.stringify(proposal(1)), '{"entityType":', "{}", JSON.stringify(proposal(2))];
  const file = fileOf(lines.join("\n"));
  const { code, notes } = await run({ files: [file], server: catalog.address });
  expect(code).toBe(1);
  expect(notes).toHaveLength(2);
  expect(notes[0]).toContain(`${file}: record 2: the record is not JSON`);
  expect(notes[1]).toContain(`${file}: record 3: the record has the members {}`);
  expect(catalog.accepted()).toHaveLength(2);
});

test("a file without records is reported in one line, and other files are ingested", async () => {
  await using catalog = await openRecordingCatalog();
  const prose = fileOf("# Seeds\n\nOf old varieties.\n".repeat(100));
  const numbers = fileOf(JSON.stringify(Array.from({ length: 100 }, (_, n) => n)));
  const whole = fileOf(JSON.stringify(proposal(2)));
  const { code, printed, notes } = await run({
    files: [prose, numbers, whole],
    server: catalog.address,
  });
  expect(code).toBe(1);
  const why = "is not a file of records: none of its first 5 begins with {. A record is a proposal";
  expect(notes).toEqual([
    expect.stringContaining(`${prose}: it ${why}`),
    expect.stringContaining(`${numbers}: it ${why}`),
  ]);
  expect(printed[0]).toContain("ingested 1 records (1 aspects), 2 failed");
});

test("a file that begins with a few invalid lines is still read", async () => {
  await using catalog = await openRecordingCatalog();
  const file = fileOf(`some\nnotice\n${JSON.stringify(proposal(1))}\nend\n`);
  const short = fileOf("no record\n");
  const { notes } = await run({ files: [file, short], server: catalog.address });
  expect(notes).toEqual([
    expect.stringContaining(`${file}: record 1: the record is not JSON`),
    expect.stringContaining(`${file}: record 2: the record is not JSON`),
    expect.stringContaining(`${file}: record 4: the record is not JSON`),
    expect.stringContaining(`${short}: record 1: the record is not JSON`),
  ]);
  expect(catalog.accepted()).toHaveLength(1);
});

test("an unclosed array is reported, and the records before it and in other files are ingested", async () => {
  await using catalog = await openRecordingCatalog();
  const cut = fileOf(`[${JSON.stringify(proposal(1))},`);
  const whole = fileOf(JSON.stringify(proposal(2)));
  const { code, notes } = await run({ files: [cut, whole], server: catalog.address });
  expect(code).toBe(1);
  expect(notes).toEqual([`${cut}: after record 1: the array does not end`]);
  expect(catalog.accepted()).toHaveLength(2);
});

test("a request is repeated after 429 and 503, with the same idempotency key", async () => {
  await using catalog = await openRecordingCatalog({
    reject: (_, attempt) =>
      attempt < 2 ? { status: attempt === 0 ? 429 : 503, message: "later" } : undefined,
  });
  const file = fileOf(JSON.stringify([proposal(1), proposal(2)]));
  const { code, notes } = await run({ files: [file], server: catalog.address, concurrency: 1 });
  expect({ code, notes }).toEqual({
    code: 0,
    notes: [`waiting for ${catalog.address} (status 429: later)`],
  });
  expect(catalog.received.map(({ status }) => status)).toEqual([429, 503, 200]);
  const keys = new Set(catalog.received.map(({ idempotencyKey }) => idempotencyKey));
  expect(keys.size).toBe(1);
  expect([...keys][0]).toMatch(/^[0-9a-f-]{36}$/);
});

test("a run ends when the server stays unavailable, and reports the ingested records", async () => {
  await using catalog = await openRecordingCatalog({
    reject: ([first]) =>
      first?.urn === tagUrn("last") ? { status: 503, message: "disk full" } : undefined,
  });
  const file = fileOf([1, 2, "last"].map((n) => JSON.stringify(proposal(n))).join("\n"));
  const options = { files: [file], server: catalog.address, concurrency: 1, batch: 1 };
  const { code, printed, notes } = await run(options);
  expect(code).toBe(1);
  expect(notes).toHaveLength(2);
  expect(notes[1]).toContain("did not answer (status 503: disk full)");
  expect(printed[0]).toContain("ingested 2 records");
});

test("nothing is sent when the server does not answer or is not a catalog", async () => {
  const file = fileOf(JSON.stringify(proposal(1)));
  await expect(run({ files: [file], server: await freeAddress() })).rejects.toThrow(
    /did not answer \(ECONNREFUSED\)/,
  );
  await using other = await openRecordingCatalog({ config: { hello: "world" } });
  await expect(run({ files: [file], server: other.address })).rejects.toThrow("no catalog at");
  expect(other.received).toEqual([]);
});

test("an https address of a plain HTTP server is reported at once", async () => {
  await using catalog = await openRecordingCatalog();
  const secured = catalog.address.replace("http:", "https:");
  const file = fileOf(JSON.stringify(proposal(1)));
  await expect(run({ files: [file], server: secured, retryDelayMs: 60_000 })).rejects.toMatchObject(
    { hint: `It seems to speak no TLS: try --server ${catalog.address}` },
  );
});

test("nothing is sent when one of the files cannot be read", async () => {
  await using catalog = await openRecordingCatalog();
  const file = fileOf(JSON.stringify(proposal(1)));
  const absent = join(folder, "absent.json");
  await expect(run({ files: [file, absent], server: catalog.address })).rejects.toThrow(
    `file "${absent}" does not exist. Check its path`,
  );
  await expect(run({ files: [folder], server: catalog.address })).rejects.toThrow("is a directory");
  expect(catalog.received).toEqual([]);
});

test("an interrupted run stops and reports the ingested records", async () => {
  const controller = new AbortController();
  await using catalog = await openRecordingCatalog({
    reject: (_, attempt) => {
      if (attempt === 3) controller.abort(new Error("interrupted"));
      return undefined;
    },
  });
  const lines = Array.from({ length: 200 }, (_, i) => JSON.stringify(proposal(i)));
  const options = {
    files: [fileOf(lines.join("\n"))],
    server: catalog.address,
    batch: 1,
    concurrency: 1,
  };
  const { code, printed, notes } = await run(options, controller.signal);
  expect(code).toBe(1);
  expect(notes.join()).toContain("interrupted");
  expect(printed[0]).toMatch(/^ingested [34] records/);
});

test("a long error message is cut to one line with the number of missing characters", async () => {
  const message = "x".repeat(5_000);
  await using catalog = await openRecordingCatalog({ reject: () => ({ status: 422, message }) });
  const file = fileOf(JSON.stringify([proposal(1)]));
  const { code, notes } = await run({ files: [file], server: catalog.address });
  expect(code).toBe(1);
  const [line = ""] = notes;
  const head = `${file}: record 1: ${tagUrn(1)}: xxx`;
  expect(line.slice(0, head.length)).toBe(head);
  expect(line).toMatch(/x… \(\d+ characters more\)$/);
  expect(line.length).toBeLessThan(1_100);
});

test("the command fails after it ingested all records if the service is not healthy", async () => {
  const healthError = 'the view "search" is at position 7: disk I/O error';
  await using catalog = await openRecordingCatalog({ healthError: () => healthError });
  const file = fileOf(JSON.stringify([proposal(1), proposal(2)]));
  const options = { files: [file], server: catalog.address, recoveryMsMax: 50 };
  const { code, notes, printed } = await run(options);
  expect(code).toBe(1);
  expect(catalog.accepted()).toHaveLength(2);
  expect(printed.join()).toMatch(/^ingested 2 records/);
  expect(notes.at(-1)).toContain(healthError);
});

test("the command succeeds if the service becomes healthy a second after the last record", async () => {
  let healthyAt: number | undefined;
  await using catalog = await openRecordingCatalog({
    healthError() {
      healthyAt ??= performance.now() + 1_000;
      return performance.now() < healthyAt ? "the view graph did not answer" : undefined;
    },
  });
  const file = fileOf(JSON.stringify([proposal(1)]));
  const { code, notes } = await run({ files: [file], server: catalog.address });
  expect({ code, notes }).toEqual({
    code: 0,
    notes: [`waiting for ${catalog.address} (status 503: the view graph did not answer)`],
  });
});
