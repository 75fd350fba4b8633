/** Change feeds: records a second to one reader, and the delay of a write in 1,000 open feeds. */

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createClient } from "../support/client.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import type { Figures } from "./figures.ts";
import { propertiesOf, urnOf } from "./sample.ts";

const feeds = 1_000;

/** `changes`: the number of changes to read, at most those of the log. */
export async function* benchFeeds({ address }: ServiceProcess, changes: number): Figures {
  const begun = performance.now();
  const count = await readChanges(address, changes);
  const value = (count * 1_000) / (performance.now() - begun);
  const note = `${count.toLocaleString("en")} changes`;
  yield { name: "change feed to one reader", value, unit: "/s", goal: 20_000, note };

  const open: IncomingMessage[] = [];
  while (open.length < feeds) open.push(await follow(`${address}/changes`));
  const name = `feed${Date.now()}`;
  const received = open.map((feed) => untilText(feed, name));
  const client = createClient(address);
  await client.upsert(urnOf(0), "datasetProperties", { ...propertiesOf(0, 0), name });
  const written = performance.now();
  await Promise.all(received);
  const delay = performance.now() - written;
  for (const feed of open) feed.destroy();
  const shown = `a write in ${feeds.toLocaleString("en")} open feeds`;
  yield { name: shown, value: delay, unit: "ms", goal: 1_000, note: "the last of them" };
}

async function follow(url: string): Promise<IncomingMessage> {
  const request = get(url, { agent: false, headers: { accept: "application/x-ndjson" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a feed is answered ${response.statusCode}`);
  return response;
}

/** Reads the feed from the start, as JSON lines; returns the number of lines read. */
async function readChanges(address: string, atLeast: number): Promise<number> {
  const feed = await follow(`${address}/changes?from=start`);
  let lines = 0;
  for await (const part of feed) {
    for (const byte of part as Buffer) if (byte === 10) lines++;
    if (lines >= atLeast) break;
  }
  feed.destroy();
  return lines;
}

function untilText(feed: IncomingMessage, text: string): Promise<void> {
  return new Promise((resolve) => {
    let received = "";
    feed.setEncoding("utf8").on("data", (part: string) => {
      received = (received + part).slice(-10_000);
      if (received.includes(text)) resolve();
    });
  });
}
