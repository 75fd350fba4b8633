/** A key makes a request one write: retried, sent concurrently, and after a restart. */
import { expect, test } from "vitest";
import { encoded, proposal } from "../../support/client.ts";
import { cpuMilliseconds } from "../../support/cpu-milliseconds.ts";
import { runningService } from "../../support/running-service.ts";

const INGEST = "/aspects?action=ingestProposal";
const create = (urn: string, name: string) => ({
  proposal: proposal(urn, "tagProperties", { name }, { changeType: "CREATE" }),
});

test("a CREATE with a key gets the same response however often it is sent", async () => {
  await using service = await runningService();
  const urn = "urn:li:tag:once";
  const send = () =>
    service.client.call("POST", INGEST, create(urn, "once"), { "Idempotency-Key": "k-1" });
  const together = await Promise.all(Array.from({ length: 8 }, send));
  await service.restart();
  const replies = [...together, await send()];
  for (const reply of replies) expect(reply).toMatchObject({ status: 200, position: 2 });
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  expect(body.aspects.tagProperties.systemMetadata.version).toBe("1");
  const other = await service.client.call("POST", INGEST, create(urn, "again"), {
    "Idempotency-Key": "k-2",
  });
  expect(other.status).toBe(422);
});

test("the same request without a key is a second write", async () => {
  await using service = await runningService();
  const urn = "urn:li:tag:twice";
  const first = await service.client.upsert(urn, "tagProperties", { name: "twice" });
  const second = await service.client.upsert(urn, "tagProperties", { name: "twice" });
  expect(second.position).toBe((first.position ?? 0) + 1);
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  expect(body.aspects.tagProperties.systemMetadata.version).toBe("1");
});

const headers = { "Idempotency-Key": "k-delete" };
const table = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const profile = (timestampMillis: number) =>
  proposal(table, "datasetProfile", { timestampMillis, rowCount: 1 });

test("a delete with a key gets the same response however often it is sent", async () => {
  await using service = await runningService();
  const proposals = [proposal(table, "status", { removed: false }), profile(1), profile(2)];
  await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  const send = (more: Record<string, string> = headers) =>
    service.client.call("POST", "/entities?action=delete", { urn: table }, more);
  const together = await Promise.all(Array.from({ length: 6 }, () => send()));
  await service.restart();
  await service.client.upsert(table, "status", { removed: true });
  const [first] = together;
  expect(first?.body.value).toMatchObject({ urn: table, timeseriesRows: 2 });
  expect(first?.body.value.rows).toBeGreaterThan(3);
  for (const reply of [...together, await send()]) {
    expect({ body: reply.body, position: reply.position }).toEqual({
      body: first?.body,
      position: first?.position,
    });
  }
  const { body } = await service.client.call("POST", "/entities?action=exists", { urn: table });
  expect(body).toEqual({ value: true });
  expect((await send({ "Idempotency-Key": "k-other" })).body.value.timeseriesRows).toBe(0);
});

test("a delete of events with a key gets the same response when repeated", async () => {
  await using service = await runningService();
  const proposals = [profile(1), profile(2), profile(3)];
  await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  const range = { urn: table, aspectName: "datasetProfile", endTimeMillis: 2 };
  const send = (body: object) =>
    service.client.call("POST", "/entities?action=delete", body, headers);
  const replies = [await send(range), await send(range)];
  await service.restart();
  replies.push(await send(range));
  for (const reply of replies) {
    expect(reply).toMatchObject({
      body: { value: { urn: table, timeseriesRows: 2 } },
      position: replies[0]?.position,
    });
  }
  // Another range is another request, whatever its key.
  expect((await send({ ...range, endTimeMillis: 9 })).body.value.timeseriesRows).toBe(1);
});

test("a DELETE proposal with a key gets the same response when repeated", async () => {
  await using service = await runningService();
  await service.client.call("POST", INGEST, { proposal: profile(1) });
  await service.client.upsert(table, "status", { removed: false });
  for (const aspect of ["datasetProfile", "status"]) {
    const more = { changeType: "DELETE", aspect: undefined };
    const send = () =>
      service.client.call("POST", INGEST, { proposal: proposal(table, aspect, {}, more) }, headers);
    const [first, second] = [await send(), await send()];
    expect(first).toMatchObject({ status: 200, position: second.position });
    expect(second.status).toBe(200);
  }
});

test("a large batch with a key takes hardly longer than one without", async () => {
  await using service = await runningService();
  const proposals = Array.from({ length: 5_000 }, (_, n) =>
    proposal(`urn:li:tag:t${n}`, "tagProperties", { name: "x".repeat(200) }),
  );
  const send = async (headers: Record<string, string>): Promise<number> => {
    const begin = cpuMilliseconds();
    const path = "/aspects?action=ingestProposalBatch";
    const { status } = await service.client.call("POST", path, { proposals }, headers);
    expect(status).toBe(200);
    return cpuMilliseconds() - begin;
  };
  expect(await send({ "Idempotency-Key": "k-large" })).toBeLessThan(4_000);
});

test("a repeated delete of edges with a key does not delete edges that were written since", async () => {
  await using service = await runningService();
  const { client } = service;
  const owner = "urn:li:corpuser:mira";
  const ownership = (removed: readonly string[]) => ({
    owners: [owner, ...removed].map((one) => ({ owner: one, type: "DATAOWNER" })),
    lastModified: { time: 0, actor: owner },
  });
  const key = { "Idempotency-Key": "k-forget" };
  const forget = () =>
    client.call("DELETE", `/relationships?urn=${encoded(table)}`, undefined, key);
  const owners = async () => {
    const path = `/relationships?direction=OUTGOING&types=OwnedBy&urn=${encoded(table)}`;
    return (await client.get(path)).body.total;
  };
  await client.upsert(table, "ownership", ownership([]));
  const first = await forget();
  expect([first.status, await owners()]).toEqual([200, 0]);
  await client.upsert(table, "ownership", ownership(["urn:li:corpuser:imke"]));
  expect(await forget()).toMatchObject({ status: 200, position: first.position });
  expect(await owners()).toBe(2);
});
