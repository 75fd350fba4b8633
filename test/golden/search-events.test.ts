/**
 * Searches on timeseries: fields of the latest event of each entity, in any order of arrival, and
 * after deletes, truncations, restores and rebuilds.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [A, B, C] = [dataset("a"), dataset("b"), dataset("c")];

let service: RunningService;
let operator: Operator;
/** Position of the last write. Searches wait for it. */
let written = 0;

beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function write(urn: string, aspect: string, value: object): Promise<void> {
  const body = { proposal: proposal(urn, aspect, value) };
  const reply = await service.client.call("POST", "/aspects?action=ingestProposal", body);
  expect(reply).toMatchObject({ status: 200 });
  written = reply.position ?? written;
}

const profile = (urn: string, time: number, rowCount: number) =>
  write(urn, "datasetProfile", { timestampMillis: time, rowCount });

const operation = (urn: string, time: number, lastUpdatedTimestamp: number) =>
  write(urn, "operation", { timestampMillis: time, lastUpdatedTimestamp, operationType: "INSERT" });

interface Criterion {
  readonly field: string;
  readonly condition?: string;
  readonly values?: readonly string[];
}

/** Names of the matching datasets, sorted. */
async function found(...and: readonly Criterion[]): Promise<string> {
  const asked = { entity: "dataset", input: "*", start: 0, count: 50, filter: { or: [{ and }] } };
  const reply = await service.client.call("POST", "/entities?action=search", asked, {
    "X-Annals-Min-Position": String(written),
  });
  expect(reply.status).toBe(200);
  const { value } = reply.body as { value: { entities: string[] } };
  return value.entities.map((urn) => urn.split(",")[1]).join("");
}

const rows = (condition: string, ...values: string[]) => ({ field: "rowCount", condition, values });

/** Expects that the views equal views rebuilt from the log. */
async function expectSame(): Promise<void> {
  await service.restart(async () => {
    const { differences } = await differencesFromRebuild(service.directory);
    expect(differences).toEqual([]);
  });
  operator = operatorOf(service);
}

async function expectVerified(how: object = {}): Promise<void> {
  await operator.ended(await operator.value("verify", how));
  expect(await operator.value("listDifferences")).toMatchObject({ differences: [] });
}

describe("a search", () => {
  test("matches datasets by the time of their latest event, not by arrival", async () => {
    await profile(A, 2_000, 20);
    await profile(A, 1_000, 1_000);
    await profile(B, 1_000, 7);
    await write(C, "status", { removed: false });
    expect(await found(rows("EQUAL", "20"))).toBe("a");
    expect(await found(rows("EQUAL", "1000"))).toBe("");
    expect(await found(rows("GREATER_THAN", "5"))).toBe("ab");
    expect(await found({ field: "hasRowCount", values: ["true"] })).toBe("ab");
    expect(await found({ field: "rowCount", condition: "IS_NULL" })).toBe("c");
    await profile(B, 3_000, 30);
    expect(await found(rows("LESS_THAN", "25"))).toBe("a");
    // A second write of the same event replaces its value.
    await profile(B, 3_000, 3);
    expect(await found(rows("LESS_THAN", "25"))).toBe("ab");
    await expectSame();
  });

  test("matches operations by date, together with other fields of the dataset", async () => {
    await operation(A, 10, 1_772_323_200_000);
    await operation(C, 10, 1_775_000_000_000);
    const since = { field: "lastOperationTime", condition: "GREATER_THAN_OR_EQUAL_TO" };
    expect(await found({ ...since, values: ["2026-03-01"] })).toBe("ac");
    expect(await found({ ...since, values: ["2026-03-02"] })).toBe("c");
    await write(A, "status", { removed: false });
    expect(await found({ ...since, values: ["2026-03-01"] }, rows("EQUAL", "20"))).toBe("a");
  });

  test("matches the previous event after the latest was deleted", async () => {
    const gone = { urn: A, aspectName: "datasetProfile", startTimeMillis: 2_000 };
    const reply = await service.client.call("POST", "/entities?action=delete", gone);
    expect(reply.status).toBe(200);
    written = reply.position ?? written;
    expect(await found(rows("EQUAL", "1000"))).toBe("a");
    expect(await found(rows("EQUAL", "20"))).toBe("");
  });

  test("loses the events that a truncation deleted, and keeps later ones", async () => {
    await profile(C, 9_000, 90);
    await expectVerified({ full: true });
    const reply = await operator.act("truncateTimeseriesAspect", {
      ...{ entityType: "dataset", aspect: "datasetProfile" },
      ...{ endTimeMillis: 2_500, dryRun: false },
    });
    expect(reply).toMatchObject({ status: 200 });
    await operator.ended(reply.body.value);
    await expect.poll(() => found({ field: "hasRowCount", values: ["true"] })).toBe("bc");
    expect(await found({ field: "lastOperationTime", condition: "EXISTS" })).toBe("ac");
    await expectVerified();
    await profile(A, 100, 1);
    expect(await found({ field: "hasRowCount", values: ["true"] })).toBe("abc");
    await expectSame();
  });

  test("returns the same after a restore, and the view equals the log", async () => {
    await operator.value("restoreIndices", { urn: A });
    expect(await found(rows("EQUAL", "1"))).toBe("a");
    await expectVerified({ full: true });
  });

  test("is rebuilt together with a missing timeseries view", async () => {
    await service.restart(async () => {
      for (const end of ["", "-wal", "-shm"]) {
        rmSync(join(service.directory, `timeseries.sqlite${end}`), { force: true });
      }
      const config = readConfig({ data: service.directory }, {});
      const rebuilt = await rebuild(config, {
        ...{ views: ["search"], onProgress: () => {} },
        logger: createLogger("silent"),
      });
      const views = rebuilt.map(({ view }) => view);
      expect(views.slice(-2)).toEqual(["timeseries", "search"]);
    });
    operator = operatorOf(service);
    expect(await found({ field: "hasRowCount", values: ["true"] })).toBe("abc");
  });

  test("matches no events of a deleted entity, also after it is created again", async () => {
    const reply = await service.client.call("POST", "/entities?action=delete", { urn: B });
    written = reply.position ?? written;
    await write(B, "status", { removed: false });
    expect(await found(rows("GREATER_THAN", "0"))).toBe("ac");
    await expectSame();
  });
});
