/** /changes of the running service: the changes that subscribers get, without gaps or repeats. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guardedService } from "../auth/guarded-service.ts";
import { encoded } from "../support/client.ts";
import { follow } from "../support/feed-client.ts";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const name = (n: number | string) => ({ name: `n${n}` });

/** One line for each change. */
// biome-ignore lint/suspicious/noExplicitAny: changes as JSON.
const shown = (changes: readonly any[]) =>
  changes.map(
    (change) =>
      `${change.changeType} ${change.entityUrn.split(":").at(-1)} ${change.aspectName} ${JSON.stringify(change.aspect?.value)}`,
  );

describe("a page of changes", () => {
  let service: RunningService;
  const a = "urn:li:tag:a";
  beforeAll(async () => {
    service = await runningService();
    const { client } = service;
    await client.upsert(a, "tagProperties", name(1));
    await client.upsert(a, "tagProperties", name(1), { systemMetadata: { runId: "again" } });
    await client.upsert(a, "tagProperties", name(2), { headers: { trace: "t" } });
    await client.upsert("urn:li:corpuser:u", "status", { removed: false });
    const profile = { timestampMillis: 1_772_409_600_000, rowCount: 7 };
    await client.upsert(
      "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)",
      "datasetProfile",
      profile,
    );
    await client.call("DELETE", `/aspects/${encoded(a)}`);
    await client.call("POST", "/entities?action=delete", { urn: a });
    await client.call("DELETE", `/relationships?urn=${encoded(a)}`);
    const truncation = { entityType: "dataset", aspect: "datasetProfile", endTimeMillis: 1 };
    const operator = tokenOf(service.directory);
    const path = "/operations?action=truncateTimeseriesAspect";
    await client.call("POST", path, { ...truncation, dryRun: false }, operator);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const page = async (query: string) => (await service.client.get(`/changes?${query}`)).body;

  test("lists changes in the order of the log, without confirmations, jobs or truncations", async () => {
    const { changes, position, end } = await page("");
    expect(shown(changes)).toEqual([
      'UPSERT a tagKey {"name":"a"}',
      'UPSERT a tagProperties {"name":"n1"}',
      'UPSERT a tagProperties {"name":"n2"}',
      'UPSERT u corpUserKey {"username":"u"}',
      'UPSERT u status {"removed":false}',
      expect.stringContaining("datasetKey"),
      ...changes
        .slice(6, -2)
        .map(() => expect.stringMatching(/dataPlatformInstance|browsePath|Profile/)),
      expect.stringContaining("datasetProfile"),
      "DELETE a tagKey undefined",
    ]);
    expect(end).toBe(true);
    expect(position).toBeGreaterThan(changes.at(-1).position);
  });

  test("shows a change in the form of DataHub's record, with JSON for values", async () => {
    const { changes } = await page(`urn=${encoded(a)}&aspect=tagProperties&previous=true`);
    expect(changes).toStrictEqual([
      expect.not.objectContaining({ previousAspectValue: expect.anything() }),
      {
        position: expect.any(Number),
        entityType: "tag",
        entityUrn: a,
        changeType: "UPSERT",
        aspectName: "tagProperties",
        aspect: { value: name(2), contentType: "application/json" },
        systemMetadata: expect.objectContaining({ version: "2", lastRunId: "again" }),
        headers: { trace: "t" },
        previousAspectValue: { value: name(1), contentType: "application/json" },
        previousSystemMetadata: expect.objectContaining({ version: "1", runId: "again" }),
        created: { time: expect.any(Number), actor: "urn:li:corpuser:__datahub_system" },
      },
    ]);
    const { changes: all } = await page("previous=true");
    expect(all.at(-1)).toMatchObject({
      changeType: "DELETE",
      aspectName: "tagKey",
      previousAspectValue: { value: { name: "a" } },
    });
  });

  test("with filters, lists the matching changes: several values of each filter, in any urn namespace", async () => {
    const ofBoth = await page("aspect=List(tagKey,status)&entityType=tag&entityType=corpuser");
    expect(shown(ofBoth.changes)).toEqual([
      'UPSERT a tagKey {"name":"a"}',
      'UPSERT u status {"removed":false}',
      "DELETE a tagKey undefined",
    ]);
    const foreign = await page("urn=urn:other:corpuser:u");
    expect(shown(foreign.changes)).toHaveLength(2);
    expect((await page("aspect=datasetProfile")).changes).toHaveLength(1);
  });

  test("continues on the next page: pages of any size make up the whole", async () => {
    const whole = await page("");
    for (const limit of [1, 2, 5]) {
      const found: unknown[] = [];
      let after = 0;
      for (let end = false; !end; ) {
        const next = await page(`after=${after}&limit=${limit}`);
        expect(next.changes.length).toBeLessThanOrEqual(limit);
        found.push(...next.changes);
        ({ position: after, end } = next);
      }
      expect(found).toEqual(whole.changes);
      // The position also covers the truncation.
      expect(after).toBeGreaterThanOrEqual(whole.position);
    }
    const now = await page("from=now");
    expect(now).toMatchObject({ changes: [], end: true });
    expect(now.position).toBeGreaterThanOrEqual(whole.position);
  });

  test("continues with earlier changes: pages of any size make up the whole, newest first", async () => {
    const whole = await page("");
    for (const limit of [1, 2, 5]) {
      const found: unknown[] = [];
      for (let [query, end] = ["from=end", false]; !end; ) {
        const next = await page(`${query}&limit=${limit}`);
        found.push(...next.changes);
        query = `before=${next.position}`;
        end = next.end;
      }
      expect(found).toEqual(whole.changes.toReversed());
    }
  });

  test.each([
    ["after=100000", 422, /position 100000 is not in the log, which ends at \d+/],
    ["entityType=tags", 422, /unknown entity type "tags"/],
    ["aspect=nothing", 422, /unknown aspect "nothing"/],
    ["aspect=ownershp", 422, /unknown aspect "ownershp". Did you mean "ownership"/],
    ["urn=urn:li:nothing:x", 404, /unknown entity type "nothing"/],
    ["urn=nothing", 400, /nothing/],
    ["limit=0", 400, /limit is 0. Send 1 to 1000/],
    ["limit=1001", 400, /limit is 1001/],
    ["after=-1", 400, /after is "-1"/],
    ["after=x", 400, /Argument parameter 'after'/],
    ["from=then", 400, /from is "then". Send start, now or end/],
    ["after=1&from=now", 400, /both after and from/],
    ["before=1&from=end", 400, /both before and from/],
    ["before=x", 400, /Argument parameter 'before'/],
  ])("rejects the query %s", async (query, status, message) => {
    const reply = await service.client.get(`/changes?${query}`);
    expect(reply.body).toMatchObject({ status, message: expect.stringMatching(message) });
    // A stream is rejected before its first event.
    const accept = { accept: "text/event-stream" };
    if (query.startsWith("limit")) return;
    expect((await service.client.call("GET", `/changes?${query}`, undefined, accept)).status).toBe(
      status,
    );
  });
});

describe("a stream of changes", () => {
  test("sends changes as they happen, from now on by default", async () => {
    await using service = await runningService();
    await service.client.upsert("urn:li:tag:old", "status", { removed: false });
    const feed = await follow(`${service.address}/changes?aspect=tagProperties&previous=true`);
    expect(feed.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(feed.response.headers.get("cache-control")).toBe("no-store");
    const { position } = await service.client.upsert("urn:li:tag:a", "tagProperties", name(1));
    const [first] = await feed.take(1);
    expect(first).toMatchObject({
      id: String(position),
      event: "change",
      data: { entityUrn: "urn:li:tag:a", aspect: { value: name(1) } },
    });
    await service.client.upsert("urn:li:tag:a", "tagProperties", name(2));
    expect((await feed.next())?.data.previousAspectValue.value).toEqual(name(1));
    feed.leave();
  });

  // A restart takes seconds on a machine with few cores.
  const patience = { timeout: 120_000 };

  test(
    "continues after the last event id across restarts, without gap or repeat",
    patience,
    async () => {
      await using service = await runningService();
      const received: string[] = [];
      let lastId: string | undefined = "0";
      let written = 0;
      for (const size of [3, 1, 4]) {
        for (let n = 0; n < 5; n++) {
          await service.client.upsert("urn:li:tag:a", "tagProperties", name(written++));
        }
        const feed = await follow(`${service.address}/changes?aspect=tagProperties&from=now`, {
          "Last-Event-ID": String(lastId),
        });
        const events = await feed.take(size);
        received.push(...events.map(({ data }) => data.aspect.value.name));
        lastId = feed.lastId();
        feed.leave();
        if (received.length === size) await service.restart();
      }
      expect(received).toEqual(Array.from({ length: 8 }, (_, n) => `n${n}`));
    },
  );

  test("ends cleanly when the service stops", patience, async () => {
    await using service = await runningService();
    const feed = await follow(`${service.address}/changes`);
    const lines = await fetch(`${service.address}/changes`, {
      headers: { Accept: "application/x-ndjson" },
    });
    await service.restart();
    expect(await feed.next()).toBeUndefined();
    expect(await lines.text()).toBe('{"position":0}\n');
  });

  test("in the form of lines, has one JSON object in each line", async () => {
    await using service = await runningService();
    await service.client.upsert("urn:li:tag:a", "tagProperties", name(1));
    const leaving = new AbortController();
    const lines = await fetch(`${service.address}/changes?after=1`, {
      headers: { Accept: "application/x-ndjson" },
      signal: leaving.signal,
    });
    expect(lines.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    let text = "";
    for await (const part of lines.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.split("\n").length > 2) break;
    }
    leaving.abort();
    const [begin, change] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(begin).toEqual({ position: 1 });
    expect(change).toMatchObject({ position: 2, aspectName: "tagProperties" });
  });

  test("requires a token where the service requires tokens", async () => {
    await using service = await guardedService();
    for (const accept of ["application/json", "text/event-stream"]) {
      const ask = (headers: object) =>
        service.client.call("GET", "/changes?from=now", undefined, { accept, ...headers });
      expect((await ask({})).status).toBe(401);
      if (accept === "application/json") expect((await ask(service.operator)).status).toBe(200);
    }
    const feed = await follow(
      `${service.address}/changes?from=start&urn=urn:li:tag:a`,
      service.operator,
    );
    await service.client.call(
      "POST",
      "/aspects?action=ingestProposal",
      {
        proposal: {
          ...{ entityType: "tag", entityUrn: "urn:li:tag:a", changeType: "UPSERT" },
          ...{ aspectName: "status", aspect: { value: '{"removed":true}' } },
        },
      },
      service.operator,
    );
    expect((await feed.take(2)).map(({ data }) => data.aspectName)).toEqual(["tagKey", "status"]);
    feed.leave();
  });
});
