/** One key, one write: retried, at the same time, and after the process has started anew. */
import { expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { runningService } from "../support/running-service.ts";

const INGEST = "/aspects?action=ingestProposal";
const create = (urn: string, name: string) => ({
  proposal: proposal(urn, "tagProperties", { name }, { changeType: "CREATE" }),
});

test("a CREATE with a key is answered alike however often it is sent", async () => {
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

test("without a key the same request is a second telling", async () => {
  await using service = await runningService();
  const urn = "urn:li:tag:twice";
  const first = await service.client.upsert(urn, "tagProperties", { name: "twice" });
  const second = await service.client.upsert(urn, "tagProperties", { name: "twice" });
  expect(second.position).toBe((first.position ?? 0) + 1);
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  expect(body.aspects.tagProperties.systemMetadata.version).toBe("1");
});
