/**
 * Reads as of a point in time. On a real service, a read returns what it returned when the log ended
 * there, for any history. On a log alone, reads by time work with clocks that stand still or step back.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPast, type PastTools } from "../../src/catalog/read/as-of.ts";
import type { Change } from "../../src/core/change.ts";
import { currentAspect } from "../../src/core/entity-state.ts";
import { position } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { decodeRecord, encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { serviceOnLog, startedLogs } from "../support/started-logs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

let service: RunningService;
let serial = 0;

type Asked = readonly [method: string, path: string, body?: object];

/** Every read of the entities and their aspects. */
function readsOf(urns: readonly string[]): readonly Asked[] {
  const [first = ""] = urns;
  const one = (urn: string): readonly Asked[] => [
    ["GET", `/entitiesV2/${encoded(urn)}`],
    ["GET", `/entities/${encoded(urn)}`],
    ["GET", `/openapi/v3/entity/dataset/${encoded(urn)}?systemMetadata=true`],
    ["GET", `/openapi/v2/entity/dataset/${encoded(urn)}?aspects=status`],
    ["HEAD", `/openapi/v3/entity/dataset/${encoded(urn)}`],
    ["HEAD", `/openapi/v3/entity/dataset/${encoded(urn)}/status`],
    ["POST", "/entities?action=exists", { urn, includeSoftDelete: false }],
    [
      "POST",
      "/aspects?action=getTimeseriesAspectValues",
      { urn, entity: "dataset", aspect: "datasetProfile" },
    ],
    ...[0, 1, 2, -1].flatMap((version): readonly Asked[] => [
      ["GET", `/aspects/${encoded(urn)}?aspect=editableDatasetProperties&version=${version}`],
      [
        "GET",
        `/openapi/v3/entity/dataset/${encoded(urn)}/editableDatasetProperties?version=${version}&systemMetadata=true`,
      ],
    ]),
  ];
  return [
    ...urns.flatMap(one),
    ["GET", `/entitiesV2?ids=List(${urns.map(encoded).join(",")})&aspects=List(status)`],
    ["GET", `/entities?ids=List(${urns.map(encoded).join(",")})`],
    ["GET", `/openapi/entities/v1/latest?urns=${urns.map(encoded).join("&urns=")}`],
    ["POST", "/entities?action=filterExistingUrns", { request: { urns } }],
    [
      "POST",
      "/openapi/v3/entity/dataset/batchGet",
      [
        { urn: first, editableDatasetProperties: { headers: { "If-Version-Match": "1" } } },
        ...urns.slice(1).map((urn) => ({ urn })),
      ],
    ],
    [
      "POST",
      "/openapi/v3/entity/generic/batchGet",
      { dataset: urns.map((urn) => ({ urn, status: {} })) },
    ],
    ["POST", "/openapi/v2/entity/batch/dataset", { urns, withSystemMetadata: true }],
  ];
}

const at = (path: string, moment: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}${moment}`;

function answers(asked: readonly Asked[], moment?: string): Promise<readonly string[]> {
  const replies = asked.map(async ([method, path, body]) => {
    const target = moment === undefined ? path : at(path, moment);
    const reply = await service.client.call(method, target, body);
    if (moment?.startsWith("asOfPosition=") === true && reply.status < 300) {
      expect(`asOfPosition=${reply.position}`, path).toBe(moment);
    }
    // A derived key aspect has the time of the response.
    const text = JSON.stringify(reply.body).replace(
      /"created":\{"actor":"urn:li:corpuser:__datahub_system","time":\d+\}\}\}/g,
      "made up",
    );
    return `${method} ${path} ${reply.status} ${text.replace(/"requestId":"[^"]*"/g, "")}`;
  });
  return Promise.all(replies);
}

const write = (path: string, body: object) => service.client.call("POST", path, body);
const description = (text: string) => ({ description: text });

type Step = (urns: readonly string[]) => Promise<{ readonly position: number | undefined }>;

const which = fc.nat(1);
const few = fc.nat(2);
const steps = fc.oneof(
  fc
    .tuple(which, few, few)
    .map(([i, text, run]): [string, Step] => [
      `entity ${i} is described as ${text} by run ${run}`,
      (urns) =>
        service.client.upsert(
          urns[i] ?? "",
          "editableDatasetProperties",
          description(`is ${text}`),
          { systemMetadata: { runId: `run-${run}`, lastObserved: 1_700_000_000_000 + serial++ } },
        ),
    ]),
  fc
    .tuple(which, fc.boolean())
    .map(([i, removed]): [string, Step] => [
      `entity ${i} is ${removed ? "removed softly" : "there"}`,
      (urns) => service.client.upsert(urns[i] ?? "", "status", { removed }),
    ]),
  which.map((i): [string, Step] => [
    `entity ${i} is deleted`,
    (urns) => write("/entities?action=delete", { urn: urns[i] }),
  ]),
  which.map((i): [string, Step] => [
    `the description of entity ${i} is deleted`,
    (urns) =>
      write("/aspects?action=ingestProposal", {
        proposal: {
          ...{ entityType: "dataset", entityUrn: urns[i], changeType: "DELETE" },
          aspectName: "editableDatasetProperties",
        },
      }),
  ]),
  few.map((text): [string, Step] => [
    `both are described as ${text}`,
    (urns) =>
      write("/aspects?action=ingestProposalBatch", {
        proposals: urns.map((urn) =>
          proposal(urn, "editableDatasetProperties", description(`is ${text}`)),
        ),
      }),
  ]),
  fc.tuple(which, fc.nat(3)).map(([i, hour]): [string, Step] => [
    `entity ${i} has a profile of hour ${hour}`,
    (urns) =>
      service.client.upsert(urns[i] ?? "", "datasetProfile", {
        ...{ timestampMillis: 1_700_000_000_000 + hour * 3_600_000, rowCount: serial++ },
      }),
  ]),
  fc.tuple(which, fc.nat(3)).map(([i, hour]): [string, Step] => [
    `profiles of entity ${i} up to hour ${hour} are deleted`,
    (urns) =>
      write("/entities?action=delete", {
        ...{ urn: urns[i], aspectName: "datasetProfile" },
        endTimeMillis: 1_700_000_000_000 + hour * 3_600_000,
      }),
  ]),
);

describe.each(startedLogs)("on the %s log,", (kind, startLog) => {
  beforeAll(async () => {
    service = await serviceOnLog(startLog);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  const numRuns = kind === "embedded" ? 10 : 4;
  test("a read as of a position returns what a read returned at that position", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 8 }), async (history) => {
        const name = `past.${kind}.t${serial++}`;
        const urns = [`${name}a`, `${name}b`].map(
          (one) => `urn:li:dataset:(urn:li:dataPlatform:hive,${one},PROD)`,
        );
        const asked = readsOf(urns);
        const first = await service.client.upsert(`urn:li:tag:before${serial++}`, "status", {
          removed: false,
        });
        const seen = new Map<number, readonly string[]>();
        let last = first.position ?? 0;
        seen.set(last, await answers(asked));
        for (const [, step] of history) {
          const written = (await step(urns)).position ?? 0;
          if (written > last) last = written;
          seen.set(last, await answers(asked));
        }
        for (const [then, expected] of seen) {
          expect(await answers(asked, `asOfPosition=${then}`)).toEqual(expected);
        }
      }),
      { numRuns },
    );
  });

  test("a read as of the last position or of now returns the present state", async () => {
    const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,now.${kind},PROD)`;
    const { position: written } = await service.client.upsert(urn, "status", { removed: true });
    const asked = readsOf([urn]);
    const present = await answers(asked);
    expect(await answers(asked, `asOfPosition=${written}`)).toEqual(present);
    expect(await answers(asked, `asOfTime=${Date.now()}`)).toEqual(present);
    expect(await answers(asked, `asOfTime=${new Date().toISOString()}`)).toEqual(present);
    const { headers } = await service.client.get(
      `/entitiesV2/${encoded(urn)}?asOfTime=${Date.now()}`,
    );
    expect(Number(headers.get("x-annals-position"))).toBe(written);
    const long = await service.client.get(
      `/entitiesV2/${encoded(urn)}?asOfTime=2001-09-09T01:46:40%2B02:00`,
    );
    expect(Object.keys(long.body.aspects)).toEqual(["datasetKey"]);
    expect(long.position).toBe(0);
  });

  test("a 404 response has the position that was read, as-of or present", async () => {
    const { position: first } = await service.client.upsert("urn:li:tag:early", "status", {
      removed: false,
    });
    const urn = encoded("urn:li:tag:late");
    const reads = [`/aspects/${urn}?aspect=status&version=0`, `/openapi/v3/entity/tag/${urn}`];
    const asked = { "X-Annals-Min-Position": String(first) };
    for (const path of reads) {
      const now = await service.client.call("GET", path, undefined, asked);
      expect([now.status, now.position], path).toEqual([404, expect.any(Number)]);
      expect(now.position).toBeGreaterThanOrEqual(first ?? Infinity);
    }
    await service.client.upsert("urn:li:tag:late", "status", { removed: false });
    for (const path of reads) {
      const moment = `${path}${path.includes("?") ? "&" : "?"}asOfPosition=${first}`;
      const { status, position } = await service.client.get(moment);
      expect([status, position], path).toEqual([404, first]);
    }
    const unknown = await service.client.get("/nowhere");
    expect([unknown.status, unknown.position]).toEqual([404, undefined]);
  });

  test("a position or time in the future is rejected", async () => {
    const urn = encoded("urn:li:tag:later");
    const far = await service.client.get(`/entitiesV2/${urn}?asOfPosition=999999999999999`);
    expect([far.status, far.body.message]).toEqual([422, expect.stringContaining("is not in the")]);
    const later = await service.client.get(`/entitiesV2/${urn}?asOfTime=${Date.now() + 60_000}`);
    expect([later.status, later.body.message]).toEqual([
      422,
      expect.stringContaining("in the future"),
    ]);
  });
});

const NAME = "tagProperties";
const urn = "urn:li:tag:x";

/** The n-th value, written at a time. */
const changeAt = (n: number, time: number): Change => ({
  ...{ urn, entityType: "tag", aspect: NAME, changeType: "UPSERT", value: `{"name":"${n}"}` },
  created: { time, actor: "urn:li:corpuser:mira" },
  system: { lastObserved: 5, runId: "r", version: String(n) },
});

test("another node reads as of a position as soon as the write is acknowledged", async () => {
  await using stopped = new AsyncDisposableStack();
  const server = await startEventStoreServer();
  stopped.defer(() => server.stop());
  await using first = await runningService({ log: server.address });
  await using second = await runningService({ log: server.address });
  const tag = `urn:li:tag:shared${serial++}`;
  for (let n = 1; n <= 20; n++) {
    const reply = await first.client.upsert(tag, NAME, { name: `name ${n}` });
    const then = `/entitiesV2/${encoded(tag)}?asOfPosition=${reply.position}`;
    const { status, body } = await second.client.get(then);
    expect([status, body.aspects?.[NAME]?.value.name]).toEqual([200, `name ${n}`]);
  }
});

describe("on a log without views,", () => {
  const directory = temporaryDirectory();
  const open: ChangeLog[] = [];
  afterAll(async () => {
    for (const log of open) await log.close();
    directory[Symbol.dispose]();
  });

  async function logOf(records: readonly Change[]): Promise<ChangeLog> {
    const log = await openSqliteChangeLog({ file: `${directory.path}/${serial++}.sqlite` });
    open.push(log);
    const stream = entityStream(urn);
    const data = records.map(encodeChange);
    for (let i = 0; i < data.length; i += 1_000) {
      const batch = data.slice(i, i + 1_000);
      await log.append([{ stream, expected: "any", records: batch }]);
    }
    return log;
  }

  const toolsOf = (log: Pick<ChangeLog, "readStream" | "head">): PastTools => ({
    ...{ log, decode: decodeRecord, keyAspectOf: () => "tagKey", project: () => [] },
    ...{ reached: async () => {}, withSlot: (work) => work(), now: () => 1_000 },
  });
  const present = { aspects: { findValue: async () => undefined } };

  test("a time selects the last record that is not later, even if clocks stand still or step back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(6), { minLength: 1, maxLength: 40 }),
        async (times: readonly number[]) => {
          const log = await logOf(times.map((time, i) => changeAt(i + 1, time)));
          for (let time = 0; time <= 7; time++) {
            const last = times.findLastIndex((one) => one <= time) + 1;
            const past = await openPast(toolsOf(log), present, { time });
            const [state] = await past.states.read([urn]);
            const name = state && currentAspect(state, NAME)?.version;
            expect([name ?? 0, past.shown()]).toEqual([last, last]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("an entity with ten thousand versions is folded quickly, page by page", async () => {
    const count = 10_000;
    const log = await logOf(
      Array.from({ length: count }, (_, i) => ({
        ...changeAt(i + 1, i),
        value: `{"name":"${i + 1}","description":"${"x".repeat(1_000)}"}`,
      })),
    );
    let longest = 0;
    const watched: Pick<ChangeLog, "readStream" | "head"> = {
      head: log.head,
      async readStream(...asked) {
        const page = await log.readStream(...asked);
        longest = Math.max(longest, page.length);
        return page;
      },
    };
    for (const moment of [{ position: position(count) }, { position: position(5_000) }]) {
      const begun = performance.now();
      const cpu = process.cpuUsage();
      const past = await openPast(toolsOf(watched), present, moment);
      const [state] = await past.states.read([urn]);
      expect(state && currentAspect(state, NAME)?.version).toBe(moment.position);
      const { user, system } = process.cpuUsage(cpu);
      const spent = { ms: performance.now() - begun, cpuMs: (user + system) / 1_000 };
      expect(spent.cpuMs, JSON.stringify(spent)).toBeLessThan(5_000);
    }
    expect(longest).toBeLessThanOrEqual(500);
  });

  test("a request folds a bounded number of records, but always at least one entity", async () => {
    const log = await logOf([changeAt(1, 1), changeAt(2, 2), changeAt(3, 3)]);
    const tools = { ...toolsOf(log), recordsMax: 2 };
    const past = await openPast(tools, present, { time: 5 });
    expect(await past.states.read([urn])).toMatchObject([{ revision: 2 }]);
    const other = past.states.read([urn, "urn:li:tag:y"]);
    await expect(other).rejects.toMatchObject({ code: "too_large" });
  });

  test("a read as of a position fails if the log lacks earlier records of the stream", async () => {
    const log = await logOf([changeAt(1, 1), changeAt(2, 2), changeAt(3, 3)]);
    const cut: Pick<ChangeLog, "readStream" | "head"> = {
      head: log.head,
      readStream: async (...asked) =>
        (await log.readStream(...asked)).filter(({ revision }) => revision > 0),
    };
    for (const moment of [{ position: position(3) }, { position: position(1) }, { time: 2 }]) {
      const past = await openPast(toolsOf(cut), present, moment);
      await expect(past.states.read([urn])).rejects.toMatchObject({ code: "invalid" });
    }
  });
});
