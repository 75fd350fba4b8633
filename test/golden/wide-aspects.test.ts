/** An aspect with more members than a call may have arguments is readable through all histories. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../graphql/graphql-client.ts";
import { caughtUp } from "../support/caught-up.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const TAGS = 130_000;
const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,wide,PROD)";
const once = "urn:li:dataset:(urn:li:dataPlatform:hive,wide_once,PROD)";
const tagsFrom = (first: number) => ({
  tags: Array.from({ length: TAGS }, (_, n) => ({ tag: `urn:li:tag:t${first + n}` })),
});

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  for (const [of, first] of [
    [once, 0],
    [urn, 0],
    [urn, 1],
  ] as const) {
    const { status } = await service.client.upsert(of, "globalTags", tagsFrom(first));
    expect(status).toBe(200);
  }
  // The graph of so many tags takes longer than reads wait on a slow machine.
  await caughtUp(service);
});
afterAll(() => service[Symbol.asyncDispose]());

test("the timeline shows every tag", async () => {
  const eventsOf = async (of: string) => {
    const path = `/openapi/v2/timeline/v1/${encoded(of)}?categories=TAG`;
    const { status, body } = await service.client.get(path);
    expect(status).toBe(200);
    return body.map((one: { changeEvents: unknown[] }) => one.changeEvents.length);
  };
  expect(await eventsOf(once)).toEqual([TAGS]);
  // Only the newest transactions fit into a response.
  expect(await eventsOf(urn)).toEqual([2]);
});

test("a poll of platform events shows every tag", async () => {
  const { status, body } = await service.client.get(
    "/openapi/v1/events/poll?topic=PlatformEvent_v1&lookbackWindowDays=1&limit=10",
  );
  expect(status).toBe(200);
  expect(body.count).toBeGreaterThan(TAGS);
});

test("GraphQL compares the versions", async () => {
  const query = `{ getTimeline(input: { urn: "${urn}", changeCategories: [TAG] }) { changeTransactions { timestampMillis } } }`;
  const { body } = await ask(service.client, query);
  expect(body.errors).toBeUndefined();
  expect(body.data.getTimeline.changeTransactions).toHaveLength(1);
});

test("an agent reads the history", async () => {
  const { status, body } = await service.client.call("POST", "/mcp", {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "get_history", arguments: { urn, aspects: ["globalTags"] } },
  });
  expect(status).toBe(200);
  expect(body.result.isError).not.toBe(true);
});
