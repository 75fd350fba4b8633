/**
 * Acknowledged writes survive crashes. The process is killed (SIGKILL) under load again and again;
 * after every restart the test reads each acknowledged write, and at the end it compares the views
 * with views that are rebuilt from the log.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, createClient, encoded, proposal } from "../support/client.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const kills = 8;
const writers = 16;
const entities = 40;

const urnOf = (n: number): string => `urn:li:dataset:(urn:li:dataPlatform:hive,crash.t${n},PROD)`;

/** The acknowledged writes: the last number of each entity, and the times of its events. */
interface Acknowledged {
  readonly properties: Map<string, number>;
  readonly profiles: Map<string, Set<number>>;
  /** The highest position in a response. */
  position: number;
}

test(`acknowledged writes survive ${kills} kills under load`, async () => {
  using directory = temporaryDirectory("annals-crash");
  const acknowledged: Acknowledged = { properties: new Map(), profiles: new Map(), position: 0 };
  let written = 0;
  for (let round = 0; round < kills; round++) {
    await using service = await startService(directory.path);
    const client = createClient(service.address);
    await findAll(client, acknowledged);
    const stop = { now: false };
    const load = Array.from({ length: writers }, (_, writer) =>
      write(client, { writer, round }, acknowledged, stop),
    );
    // On a busy machine the first requests take long.
    const before = acknowledged.position;
    const some = writers * (1 + Math.random() * 20);
    await expect.poll(() => acknowledged.position - before).toBeGreaterThan(some);
    await sleep(Math.random() * 20);
    await service.stop("SIGKILL");
    stop.now = true;
    written += (await Promise.all(load)).reduce((sum, n) => sum + n, 0);
  }
  expect(written).toBeGreaterThan(kills);

  await using last = await startService(directory.path);
  const client = createClient(last.address);
  await findAll(client, acknowledged);
  await caughtUp({ client, directory: directory.path });
  expect(await last.stop()).toBe(0);
  const { records, differences } = await differencesFromRebuild(directory.path);
  expect(differences).toEqual([]);
  // Positions have no gaps: the log holds a record for every position in a response.
  expect(records).toBeGreaterThanOrEqual(acknowledged.position);
  console.log(
    `${kills} kills, ${written} acknowledged requests, ${records} records in ${join(directory.path)}`,
  );
});

/** Writes until `stop`. Each writer has its own entities, so that it knows their latest values. */
async function write(
  client: Client,
  { writer, round }: { writer: number; round: number },
  acknowledged: Acknowledged,
  stop: { now: boolean },
): Promise<number> {
  let answers = 0;
  for (let n = 0; !stop.now; n++) {
    const number = round * 1_000_000 + n;
    const urn = urnOf(writer * entities + (n % entities));
    const time = 1_700_000_000_000 + number;
    try {
      const properties = await client.upsert(urn, "datasetProperties", {
        name: "t",
        customProperties: { number: String(number) },
      });
      if (properties.status !== 200) throw new Error(JSON.stringify(properties.body));
      acknowledged.properties.set(urn, number);
      const both = await client.call("POST", "/aspects?action=ingestProposalBatch", {
        proposals: [
          proposal(urn, "datasetProfile", { timestampMillis: time, rowCount: number }),
          proposal(urn, "status", { removed: n % 2 === 0 }),
        ],
      });
      if (both.status !== 200) throw new Error(JSON.stringify(both.body));
      const profiles = acknowledged.profiles.get(urn) ?? new Set();
      acknowledged.profiles.set(urn, profiles.add(time));
      acknowledged.position = Math.max(acknowledged.position, both.position ?? 0);
      answers += 2;
    } catch (error) {
      // The kill breaks the connection; any other error fails the test.
      if (!(error instanceof TypeError)) throw error;
      return answers;
    }
  }
  return answers;
}

async function findAll(client: Client, acknowledged: Acknowledged): Promise<void> {
  const properties = [...acknowledged.properties].map(async ([urn, number]) => {
    const { body } = await client.get(
      `/aspects/${encoded(urn)}?aspect=datasetProperties&version=0`,
    );
    const found = body.aspect["com.linkedin.dataset.DatasetProperties"].customProperties.number;
    // A write without a response may have been applied: it has a higher number of the same round.
    expect(Number(found)).toBeGreaterThanOrEqual(number);
  });
  const profiles = [...acknowledged.profiles].map(async ([urn, times]) => {
    const { body } = await client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
      urn,
      entity: "dataset",
      aspect: "datasetProfile",
    });
    const found = new Set(
      body.value.values.map(
        (event: { aspect: { value: string } }) => JSON.parse(event.aspect.value).timestampMillis,
      ),
    );
    expect([...times].filter((time) => !found.has(time))).toEqual([]);
  });
  await Promise.all([...properties, ...profiles]);
}
