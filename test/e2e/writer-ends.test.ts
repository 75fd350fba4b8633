/**
 * The thread that writes the log ends again and again under load, and the service continues:
 * acknowledged writes are kept, others fail with an error, and no write is rejected as a lost race
 * because the service does not know the last commits of the ended thread.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { encoded } from "../support/client.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const ends = 6;
const writers = 12;
const entities = 4;

let service: RunningService;
let thread: Worker;
const remember = (worker: Worker): void => {
  if (worker.threadName === "log writer") thread = worker;
};

beforeEach(async () => {
  process.on("worker", remember);
  service = await runningService({ logLevel: "silent" });
});
afterEach(async () => {
  process.off("worker", remember);
  await service[Symbol.asyncDispose]();
});

const urnOf = (n: number): string => `urn:li:tag:t${n}`;
const health = async (): Promise<number> => (await service.client.get("/health")).status;

test("a service continues after the thread that writes its log ends", async () => {
  const acknowledged = new Set<string>();
  const statuses = new Set<number>();
  let stop = false;
  const load = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; !stop; n++) {
      const name = `${writer}-${n}`;
      const reply = await service.client.upsert(urnOf(writer % entities), "tagProperties", {
        name,
      });
      statuses.add(reply.status);
      if (reply.status === 200) acknowledged.add(name);
      else {
        expect(reply.body.message).toMatch(/may be in the log or not|Nothing was written/);
        await sleep(20);
      }
    }
  });
  let unhealthy = 0;
  for (let end = 0; end < ends; end++) {
    await sleep(100 + Math.random() * 100);
    await thread.terminate();
    if ((await health()) === 503) unhealthy++;
    await expect.poll(health).toBe(200);
  }
  stop = true;
  await Promise.all(load);
  expect(unhealthy).toBe(ends);
  expect([...statuses].sort()).toEqual([200, 503]);
  expect(acknowledged.size).toBeGreaterThan(writers * ends);

  const found = new Set<string>();
  for (let n = 0; n < entities; n++) {
    for (let version = 1; ; version++) {
      const { status, body } = await service.client.get(
        `/aspects/${encoded(urnOf(n))}?aspect=tagProperties&version=${version}`,
      );
      if (status === 404) break;
      found.add(body.aspect["com.linkedin.tag.TagProperties"].name);
    }
  }
  expect(acknowledged.difference(found)).toEqual(new Set());
  await caughtUp(service);
  expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
});
