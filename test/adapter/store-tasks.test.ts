/** A deletion task of the timeseries store is found by its own id. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";

const store = await reachStore("opensearch");

// Elasticsearch core has no deletes by query.
describe.skipIf("skipped" in store)(`tasks of ${storeTitle("opensearch", store)}`, () => {
  const name = `t${randomBytes(5).toString("hex")}`;
  const url = "skipped" in store ? "" : store.url;
  const index = `${url}/${name}.tasks`;
  let service: RunningService;

  beforeAll(async () => {
    service = await runningService({
      timeseries: `opensearch+${url}`,
      storeName: name,
      logLevel: "silent",
    });
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await fetch(index, { method: "DELETE" });
  });

  const post = async (path: string, body: object) => {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${index}${path}`, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
    return answer.json() as Promise<{ readonly task: string }>;
  };

  test("getEsTaskStatus returns the number of deleted documents", async () => {
    for (const n of [1, 2, 3]) await post("/_doc?refresh=true", { n });
    const query = { range: { n: { lt: 3 } } };
    const { task } = await post("/_delete_by_query?wait_for_completion=false", { query });
    const reply = await operatorOf(service).ended(task);
    expect(reply).toMatchObject({
      completed: true,
      taskId: task,
      status: { total: 2, deleted: 2 },
    });
    expect(reply.runTimeNanos).toBeGreaterThan(0);
  });

  test("an id that neither the store nor the log knows is an error", async () => {
    const reply = await operatorOf(service).value("getEsTaskStatus", { task: "nobody:1" });
    expect(JSON.parse(reply)).toEqual({ error: "Could not get task status for nobody:1" });
  });
});
