/**
 * The browser application in headless Chromium: first contentful paint, results after a keystroke, entity
 * pages, scrolling of many columns, layout of lineage, and a live feed. `BENCH_ENTITIES` and
 * `BENCH_COLUMNS` set the sizes.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { caughtUp } from "../support/caught-up.ts";
import { browserPath, startChromium } from "../support/chromium.ts";
import { createClient, encoded, proposal } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { load, median } from "./load.ts";
import { report } from "./report.ts";
import { batch, single } from "./sample.ts";

const entities = Number(process.env.BENCH_ENTITIES ?? 100_000);
const columns = Number(process.env.BENCH_COLUMNS ?? 20_000);
const loads = 7;
const openedEntities = 20;
const changesPerSecond = 200;
const feedSeconds = 10;
const longFrameMs = 50;
const lineageNodes = 500;
const lineageLoads = 5;

const wide = "urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.wide,PROD)";

/** Searches that are typed letter by letter. */
const typed = ["warehouse", "table 123", "rows of events", "owners:user_7", "domain_42 kept"];

export async function benchWeb(): Promise<void> {
  if (browserPath === undefined) throw new Error("Chromium is not installed");
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, { asInstalled: true });
  const browser = await startChromium();
  try {
    await fill(service.address, directory.path);
    await benchPaint(browser, service.address);
    await benchKeystrokes(browser, service.address);
    await benchEntityPages(browser, service.address);
    await benchColumns(browser, service.address);
    await benchLineage(browser, service.address);
    await benchFeed(browser, service.address);
  } finally {
    await browser.close();
  }
  await service.stop();
}

async function fill(address: string, directory: string): Promise<void> {
  const client = createClient(address);
  for (let first = 0; first < entities; first += 250) {
    await client.call("POST", "/aspects?action=ingestProposalBatch", batch(first, 500, 0));
  }
  const fields = Array.from({ length: columns }, (_, n) => ({
    fieldPath: `column_${n}`,
    nativeDataType: "varchar(40)",
    description: `Value number ${n} of an event`,
    type: { type: { "com.linkedin.schema.StringType": {} } },
  }));
  await client.call("POST", "/aspects?action=ingestProposal", {
    proposal: proposal(wide, "schemaMetadata", {
      schemaName: "wide",
      platform: "urn:li:dataPlatform:snowflake",
      version: 0,
      hash: "",
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      fields,
    }),
  });
  await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals: lineage() });
  await caughtUp({ client, directory }, { secondsMax: 600 });
  console.log(`${entities.toLocaleString("en")} datasets, ${columns.toLocaleString("en")} columns`);
}

/** Tables of each of the ten levels of lineage: five before the table in the middle, five after it. */
const levelSize = Math.round(lineageNodes / 10);
const levels = 5;
/** Sources of each table in the level before. */
const sourceSteps = [0, 1, 7];

const tableOf = (level: number, n: number): string => {
  const name = level === 0 ? "middle" : `level_${level}_${n % levelSize}`;
  return `urn:li:dataset:(urn:li:dataPlatform:snowflake,lineage.${name},PROD)`;
};

/** The proposals of a graph with all its tables within five hops of the one in the middle, which counts, too. */
function lineage(): readonly object[] {
  const proposals: object[] = [];
  for (let level = 1 - levels; level <= levels; level++) {
    // The middle counts as a table of the graph, so the last level has one fewer.
    const size = level === 0 ? 1 : level === levels ? levelSize - 1 : levelSize;
    for (let n = 0; n < size; n++) {
      const all = Array.from({ length: levelSize }, (_, one) => one);
      const sources = level === 0 ? all : level === 1 ? [0] : sourceSteps.map((step) => n + step);
      const upstreams = sources.map((one) => ({
        dataset: tableOf(level - 1, one),
        type: "TRANSFORMED",
        auditStamp: { time: 0, actor: "urn:li:corpuser:loader" },
      }));
      proposals.push(proposal(tableOf(level, n), "upstreamLineage", { upstreams }));
    }
  }
  return proposals;
}

const ms = (value: number): string => `${Math.round(value)} ms`;

function atShare(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const firstPaint = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.name === "first-contentful-paint") resolve(entry.startTime);
      }
    }).observe({ type: "paint", buffered: true });
  })`);

/** Cold: an empty cache. Warm: the second load of a context. */
async function benchPaint(browser: Browser, address: string): Promise<void> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let n = 0; n < loads; n++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const times of [cold, warm]) {
      await page.goto(address);
      times.push(await firstPaint(page));
      await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
      await page.goto("about:blank");
    }
    await context.close();
  }
  report("first contentful paint, cold (target 1,200 ms)", ms(median(cold)));
  report("first contentful paint, warm (target 600 ms)", ms(median(warm)));
}

/** Runs in the page: notes the time from each keystroke to the results of its query. */
const watchKeystrokes = `
  globalThis.times = [];
  document.addEventListener("input", (event) => {
    const start = event.timeStamp;
    const query = event.target.value;
    const look = () => {
      const shown = document.querySelector(".results")?.dataset.query;
      if (event.target.value !== query) return;
      if (shown === query) globalThis.times.push(performance.now() - start);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });`;

/** Runs in the page: waits for the times of so many keystrokes. The CSP of the page forbids waitForFunction. */
const timesOfFirst = (count: number): string => `new Promise((resolve) => {
  const look = () => {
    if (globalThis.times.length >= ${count}) resolve(globalThis.times);
    else requestAnimationFrame(look);
  };
  look();
})`;

async function benchKeystrokes(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(`${address}/ui/search`);
  await page.locator("a.hit-name").first().waitFor();
  await page.evaluate(watchKeystrokes);
  const field = page.getByRole("combobox", { name: "Search the catalog" });
  let times: number[] = [];
  let count = 0;
  for (const text of typed) {
    for (const letter of text) {
      await field.press(letter === " " ? "Space" : letter);
      // The next key follows the results, so each time is that of a single keystroke.
      times = await page.evaluate<number[]>(timesOfFirst(++count));
    }
    await field.fill("");
    await page.evaluate(timesOfFirst(++count));
  }
  report("keystroke to results, median (target 120 ms)", ms(median(times)));
  report("keystroke to results, p95 (target 300 ms)", ms(atShare(times, 0.95)));
  await page.close();
}

/** Runs in the page: the time from a click on the result to its whole page. */
const openResult = (n: number): string => `new Promise((resolve) => {
  const link = document.querySelectorAll("a.hit-name")[${n}];
  const start = performance.now();
  const look = () => {
    const ready = document.querySelector("nav.tabs") !== null &&
      document.querySelector("[aria-label=Loading]") === null;
    if (ready) resolve(performance.now() - start);
    else requestAnimationFrame(look);
  };
  link.click();
  requestAnimationFrame(look);
})`;

async function benchEntityPages(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage();
  const times: number[] = [];
  for (let n = 0; n <= openedEntities; n++) {
    await page.goto(`${address}/ui/search?q=table&page=${n + 1}`);
    await page.locator("a.hit-name").nth(3).waitFor();
    times.push(await page.evaluate<number>(openResult(3)));
  }
  // The first one loads the code of the page, too.
  report("entity page after a click, median (target 250 ms)", ms(median(times.slice(1))));
  report("entity page after a click, p95", ms(atShare(times.slice(1), 0.95)));
  await page.close();
}

/** Runs in the page: durations of frames until \`stop\` is called. */
const watchFrames = `
  globalThis.frames = [];
  (() => {
    let last = performance.now();
    const next = (now) => {
      globalThis.frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })();`;

function reportFrames(name: string, frames: readonly number[]): void {
  const long = frames.filter((one) => one > longFrameMs).length;
  const longest = Math.max(...frames);
  report(name, `${long} of ${frames.length}, ${ms(longest)}`);
}

/** Runs in the page: scrolls as a fast wheel does, for some hundred frames. */
const scrollFast = `new Promise((resolve) => {
  let left = 500;
  const next = () => {
    scrollBy(0, 300);
    if (left-- === 0) resolve(globalThis.frames);
    else requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;

async function benchColumns(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(`${address}/ui/entity/${encoded(wide)}/columns`);
  await page.getByText("column_0", { exact: true }).first().waitFor();
  await pause(1_000);
  await page.evaluate(watchFrames);
  const frames = await page.evaluate<number[]>(scrollFast);
  reportFrames("frames over 50 ms while columns scroll; longest", frames);
  await page.close();
}

/** Runs in the page: the time from the choice of five hops to the placed tables. */
const showFiveHops = `new Promise((resolve) => {
  const hops = [...document.querySelectorAll("select")].find((one) =>
    one.parentElement.textContent.startsWith("Hops"));
  const start = performance.now();
  const look = () => {
    const placed = document.querySelector(".react-flow__node") !== null;
    if (placed && document.body.textContent.includes("${lineageNodes} entities")) {
      resolve(performance.now() - start);
    } else requestAnimationFrame(look);
  };
  hops.value = "5";
  hops.dispatchEvent(new Event("change", { bubbles: true }));
  requestAnimationFrame(look);
})`;

async function benchLineage(browser: Browser, address: string): Promise<void> {
  const times: number[] = [];
  const frames: number[] = [];
  for (let n = 0; n < lineageLoads; n++) {
    const page = await browser.newPage();
    await page.goto(`${address}/ui/entity/${encoded(tableOf(0, 0))}/lineage`);
    await page.locator(".react-flow__node").first().waitFor();
    await page.evaluate(watchFrames);
    times.push(await page.evaluate<number>(showFiveHops));
    frames.push(...(await page.evaluate<number[]>("globalThis.frames")));
    await page.close();
  }
  report(
    `lineage of ${lineageNodes} entities, read and laid out (target 2,000 ms)`,
    ms(median(times)),
  );
  reportFrames("frames over 50 ms meanwhile; longest", frames);
}

async function benchFeed(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(address);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(watchFrames);
  const requests = Array.from({ length: entities }, (_, n) => ({
    path: "/aspects?action=ingestProposal",
    body: single(n, 1),
  }));
  const { perSecond } = await load({
    url: address,
    method: "POST",
    requests,
    connections: 20,
    seconds: feedSeconds,
    perSecondMax: changesPerSecond,
  });
  const frames = await page.evaluate<number[]>("globalThis.frames");
  reportFrames(`frames over 50 ms at ${Math.round(perSecond)} changes/s; longest`, frames);
  await page.close();
}
