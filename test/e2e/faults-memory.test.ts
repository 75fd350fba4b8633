/**
 * Many large bodies at once: the service rejects those beyond its limits and stays within 1 GiB,
 * also while the views apply them, and when more follow.
 */
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { createClient } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MIB = 1024 * 1024;
const bodyBytesMax = 32 * MIB;
const senders = 50;
/** The values of each round: those of the third change nothing. */
const rounds = [1, 2, 2, 3];
const patience = 600_000;
/** Large blocks return to the system when they are freed, as with the C library of the container image. */
const imageMalloc = { MALLOC_MMAP_THRESHOLD_: "131072" };

/** Peak memory of the process, in bytes. */
function peakMemoryOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Sends one request on its own connection; returns the status, or the error if there is none. */
async function send(address: string, body: Buffer): Promise<number | string | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | string | undefined>();
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  const url = `${address}/aspects?action=ingestProposalBatch`;
  request(url, { method: "POST", headers, agent: false }, async (response) => {
    await text(response);
    resolve(response.statusCode);
  })
    .on("error", (error) => resolve(error.message))
    .end(body);
  return promise;
}

/** A body with as many members as the size limit allows. */
const hostile = (): Buffer => Buffer.from(`{"a":[${"{},".repeat((bodyBytesMax - 10) / 3)}{}]}`);

/** Values near the size limit, with more than a quarter of a million custom properties each. */
function legal(round: number): Buffer {
  const properties = Array.from({ length: 280_000 }, (_, n) => `"property_${n}":"${n + round}"`);
  const value = `{"customProperties":{${properties.join(",")}}}`;
  const proposals = [1, 2, 3].map((n) => ({
    entityType: "dataset",
    entityUrn: `urn:li:dataset:(urn:li:dataPlatform:hive,large${n},PROD)`,
    changeType: "UPSERT",
    aspectName: "datasetProperties",
    aspect: { value, contentType: "application/json" },
  }));
  const body = JSON.stringify({ proposals });
  return Buffer.from(body.padEnd(bodyBytesMax, " "));
}

test.for([
  ["bodies of 22 million members", hostile, [413, 503]],
  ["bodies of legal values", legal, [200, 503]],
] as const)(
  `${rounds.length} rounds of ${senders} concurrent %s leave the service within 1 GiB`,
  {
    timeout: patience,
  },
  async ([, make, statuses], { skip }) => {
    if (!existsSync("/proc/self/status")) return skip("no /proc has the memory of processes here");
    using directory = temporaryDirectory("annals-large-bodies");
    await using service = await startService(directory.path, {
      asInstalled: true,
      env: imageMalloc,
    });
    const client = createClient(service.address);
    for (const round of rounds) {
      const body = make(round);
      expect(body.length).toBeLessThanOrEqual(bodyBytesMax);
      const answers = await Promise.all(
        Array.from({ length: senders }, () => send(service.address, body)),
      );
      // A client that is still sending may see the connection close before it reads the response.
      const read = answers.filter(
        (answer) => answer !== "write EPIPE" && answer !== "read ECONNRESET",
      );
      expect(new Set(read)).toEqual(new Set(statuses));
      const { status } = await client.upsert("urn:li:tag:after", "status", { removed: false });
      expect(status).toBe(200);
      await caughtUp({ client, directory: directory.path });
    }
    expect(peakMemoryOf(service.pid)).toBeLessThan(1024 * MIB);
    expect(await service.stop()).toBe(0);
  },
);
