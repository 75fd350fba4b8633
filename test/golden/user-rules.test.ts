/** A user of the system cannot be removed, whatever the order of the writes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const ingest = (...proposals: readonly object[]) =>
  service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
const removing = (urn: string) => proposal(urn, "status", { removed: true });
const ofSystem = (urn: string) => proposal(urn, "corpUserInfo", { active: true, system: true });

test.each([
  ["removed first", (urn: string) => [removing(urn), ofSystem(urn)]],
  ["removed last", (urn: string) => [ofSystem(urn), removing(urn)]],
])("a batch leaves no removed user of the system, %s", async (name, proposalsOf) => {
  const urn = `urn:li:corpuser:${name.replace(" ", "-")}`;
  expect(await ingest(...proposalsOf(urn))).toMatchObject({
    ...{ status: 422, body: { code: "invalid" } },
  });
});

test("a removed user becomes a user of the system only after it is restored", async () => {
  const urn = "urn:li:corpuser:removed";
  expect((await ingest(removing(urn))).status).toBe(200);
  expect(await ingest(ofSystem(urn))).toMatchObject({
    ...{ status: 422, body: { message: expect.stringContaining("/system") } },
  });
  expect((await ingest(proposal(urn, "status", { removed: false }), ofSystem(urn))).status).toBe(
    200,
  );
});
