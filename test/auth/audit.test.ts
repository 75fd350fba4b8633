/** The audit log: each event with its actor, address, time and outcome. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditEntry } from "../../src/auth/audit.ts";
import { countedMs, createAuditTrail, rejectionsMax } from "../../src/jobs/audit/audit-trail.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { asBearer, ask, faultOf, makeToken } from "../graphql/graphql-client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const TAG = "urn:li:tag:audited";

describe("the audit log of a service", () => {
  let service: GuardedService;
  let mina: Record<string, string>;
  let token: string;
  let id: string;
  beforeAll(async () => {
    service = await guardedService();
    ({ token, id } = await makeToken(service.client, { actorUrn: MINA }, service.operator));
    mina = asBearer(token);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const operate = (action: string, body: object, headers: Record<string, string>) =>
    service.client.call("POST", `/operations?action=${action}`, body, headers);
  const events = async (filter: object) =>
    (await operate("listAuditEvents", filter, service.operator)).body.value.events;

  test("lists writes, operations, tokens, their uses and rejections, newest first", async () => {
    const before = Date.now();
    await service.client.call(
      "POST",
      "/aspects?action=ingestProposal",
      {
        proposal: {
          entityType: "tag",
          entityUrn: TAG,
          changeType: "UPSERT",
          aspectName: "tagProperties",
          aspect: { value: '{"name":"audited"}', contentType: "application/json" },
        },
      },
      mina,
    );
    expect((await operate("restoreIndices", { urn: TAG }, mina)).status).toBe(403);
    expect((await operate("restoreIndices", { urn: TAG }, service.operator)).status).toBe(200);
    const forged = { ...mina, "X-DataHub-Actor": "datahub" };
    expect(
      (await service.client.call("GET", "/aspects/x?aspect=y", undefined, forged)).status,
    ).toBe(403);
    const wrong = asBearer(`${token}x`);
    expect((await service.client.call("GET", "/entitiesV2/x", undefined, wrong)).status).toBe(401);
    expect(
      faultOf(await ask(service.client, "{ listAccessTokens(input: {}) { total } }", {}, mina)),
    ).toBeDefined();

    await expect
      .poll(async () => (await events({ outcome: "refused" })).length)
      .toBeGreaterThanOrEqual(4);
    const all = await events({ startTimeMillis: before });
    const positions = all.map((event: { position: number }) => event.position);
    expect(positions).toEqual([...positions].sort((one, other) => other - one));
    const found = (action: string, outcome: string) =>
      all.find((one: AuditEntry) => one.action === action && one.outcome === outcome);
    expect(found("UPSERT", "allowed")).toMatchObject({ actor: MINA, urn: TAG });
    expect(found("restoreIndices", "refused")).toMatchObject({ actor: MINA, count: 1 });
    expect(found("restoreIndices", "allowed")).toMatchObject({
      actor: "urn:li:corpuser:datahub",
      urn: TAG,
    });
    expect(found("getAspect", "refused")).toMatchObject({ actor: MINA });
    expect(found("getAspect", "refused").detail).toContain("another user than the token");
    expect(found("listAccessTokens", "refused")).toMatchObject({ actor: MINA });
    expect(found("useAccessToken", "allowed")).toMatchObject({
      actor: MINA,
      urn: `urn:li:dataHubAccessToken:${id}`,
    });
    for (const { address } of all.filter(
      ({ aspect }: { aspect?: string }) => aspect === undefined,
    )) {
      expect(address).toMatch(/127\.0\.0\.1|::1/);
    }
    const made = await events({ action: "createAccessToken" });
    expect(made).toMatchObject([
      { actor: "urn:li:corpuser:datahub", urn: `urn:li:dataHubAccessToken:${id}` },
    ]);
  });

  test("is filtered and paged to its end", async () => {
    const whole = await events({ count: 1000 });
    const paged = [];
    let before: number | undefined;
    for (let end = false; !end; ) {
      const { body } = await operate("listAuditEvents", { count: 2, before }, service.operator);
      paged.push(...body.value.events);
      ({ position: before, end } = body.value);
    }
    // The requests of this test are events, too.
    expect(paged.filter((one) => one.position <= whole[0].position)).toEqual(whole);
    const of = (filter: object) => events({ count: 1000, ...filter });
    expect(await of({ actor: MINA, urn: TAG, writes: false })).toEqual([]);
    expect((await of({ actor: MINA, urn: TAG })).length).toBeGreaterThan(0);
    expect(await of({ endTimeMillis: 1 })).toEqual([]);
    expect((await of({ endTimeMillis: whole[3].time })).length).toBeGreaterThan(0);
    expect((await of({ actor: "urn:li:corpuser:nobody" })).length).toBe(0);
  });

  test("is readable only with the privilege, and contains no token", async () => {
    expect((await operate("listAuditEvents", {}, mina)).status).toBe(403);
    const text = JSON.stringify(await events({ count: 1000 }));
    expect(text).not.toContain(token);
    expect(text).not.toContain(token.split(".")[2]);
  });

  test("the list of tokens has the last use of each", async () => {
    const list = "{ listAccessTokens(input: {}) { tokens { id lastUsedAt } } }";
    const { body } = await ask(service.client, list, {}, service.operator);
    const [{ lastUsedAt }] = body.data.listAccessTokens.tokens;
    expect(Math.abs(Date.now() - lastUsedAt)).toBeLessThan(600_000);
    const unused = await makeToken(service.client, { name: "unused" }, service.operator);
    const again = await ask(service.client, list, {}, service.operator);
    expect(
      again.body.data.listAccessTokens.tokens.find((one: { id: string }) => one.id === unused.id),
    ).toEqual({ id: unused.id, lastUsedAt: null });
  });
});

test("repeated rejections are counted instead of appended one by one", async () => {
  using directory = temporaryDirectory();
  let now = 1_772_409_600_000;
  mkdirSync(directory.path, { recursive: true });
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  const open = () =>
    createAuditTrail({
      ...{ log, decode: decodeRecord, days: 0, now: () => now },
      onAppended: () => {},
      logger: { warn: () => {} },
    });
  let trail = open();
  const reject = (detail: string) =>
    trail.record({ action: "getEntity", outcome: "refused", address: "192.0.2.1", detail });
  for (let i = 0; i < 50_000; i++) reject("the same");
  for (let i = 0; i < 50_000; i++) reject(`another ${i}`);
  await trail.close();
  expect(await log.head()).toBe(rejectionsMax + 2);
  const { events } = await trail.list({ count: 1000 });
  expect(events.reduce((sum, { count }) => sum + count, 0)).toBe(100_000);

  // A use of a token is recorded once an hour.
  trail = open();
  const use = { urn: "urn:li:dataHubAccessToken:x", actor: MINA, address: "192.0.2.1" };
  for (let minute = 0; minute < 120; minute++, now += countedMs) trail.recordUse(use);
  await trail.close();
  expect(await log.head()).toBe(rejectionsMax + 4);
  expect(await trail.lastUse(use.urn)).toBe(1_772_409_600_000 + 3_600_000);
  expect(await open().lastUse("urn:li:dataHubAccessToken:y")).toBeUndefined();
  await log.close();
});

test("a time range is found without reading later records, within the configured days", async () => {
  using directory = temporaryDirectory();
  const begin = 1_772_409_600_000;
  let now = begin;
  const minute = 60_000;
  const log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  let read = 0;
  const counted = {
    ...log,
    readAll: async (...asked: Parameters<typeof log.readAll>) => {
      const page = await log.readAll(...asked);
      read += page.length;
      return page;
    },
  };
  const open = (days: number) =>
    createAuditTrail({
      ...{ log: counted, decode: decodeRecord, days, now: () => now },
      onAppended: () => {},
      logger: { warn: () => {} },
    });
  const trail = open(0);
  for (let i = 0; i < 9_000; i++, now += minute) {
    trail.record({ action: `a${i}`, outcome: "allowed" });
  }
  await trail.close();
  const page = await trail.list({
    to: begin + 1_000 * minute,
    from: begin + 990 * minute,
    count: 50,
  });
  expect(page.events.map(({ action }) => action)).toEqual(
    Array.from({ length: 11 }, (_, i) => `a${1_000 - i}`),
  );
  expect(page.end).toBe(true);
  expect(read).toBeLessThan(6_000);
  const recent = await open(1).list({ count: 10_000 });
  expect(recent.events).toHaveLength(1_440);
  expect(recent.end).toBe(true);
  await log.close();
});
