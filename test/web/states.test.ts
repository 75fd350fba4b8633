/** States of the pages: empty, loading, failed, a lost connection, and times in the zone of the reader. */
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, inBrowser, type OpenBrowser, openBrowser } from "../support/browser.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const TAG = "urn:li:tag:Kept";

/** Pages that read the catalog, and a text of each without data. */
const paths: readonly (readonly [path: string, empty: string])[] = [
  ["/ui/search?q=xyzzy", "No results"],
  ["/ui/browse?section=domains", "No domains yet"],
  ["/ui/browse?section=groups", "No groups yet"],
  ["/ui/log?type=chart", "No records"],
  ["/ui/runs?run=none", "No writes"],
  ["/ui/access?section=roles", "No roles"],
  [
    `/ui/entity/${encoded("urn:li:dataset:(urn:li:dataPlatform:x,none,PROD)")}/lineage`,
    "No lineage",
  ],
];

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("states of the pages"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ port: String(await freePort()) }),
      openBrowser(),
    ]);
    await service.client.upsert(TAG, "tagProperties", { name: "Kept" });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test.each(paths)(
    "%s shows what it does while data loads, fails and is absent",
    async (path, empty) => {
      await using shown = await browser.page({ alone: true, mayFail: /status of 500/ });
      const { page, context } = shown;
      let fail = (): void => undefined;
      const failing = new Promise<void>((resolve) => {
        fail = resolve;
      });
      await context.route(isRead, async (route) => {
        await failing;
        await route.fulfill({ status: 500, json: { status: 500, message: "the view is broken" } });
      });
      await page.goto(`${service.address}${path}`);
      await page.getByRole("status", { name: "Loading" }).first().waitFor();
      await shown.check();
      fail();
      await page.getByRole("alert").getByText("the view is broken").first().waitFor();
      await shown.check();
      await context.unroute(isRead);
      await page.reload();
      await page.getByText(empty).first().waitFor();
      await shown.check();
    },
  );

  test("a page outlasts a restart of the service, and follows the log again", async () => {
    await using shown = await browser.page({ width: 390, mayFail: /ERR_|Failed to load/ });
    const { page } = shown;
    await page.goto(`${service.address}/ui/log`);
    await page.getByText("Live", { exact: true }).waitFor();
    await service.restart(async () => {
      await page.getByText("Connection lost, trying again").waitFor();
      await shown.check();
    });
    await page.getByText("Connection lost, trying again").waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
    await service.client.upsert(TAG, "tagProperties", { name: "Written after the restart" });
    await page
      .getByText(/Written after the restart/)
      .first()
      .waitFor();
    shown.expectNoErrors();
  });

  test("times are in the zone of the reader, with UTC as their title", async () => {
    await using shown = await browser.page({ alone: true, timezone: "Asia/Kathmandu" });
    const { page } = shown;
    await page.goto(`${service.address}/ui/runs`);
    const time = page.locator("td time").first();
    await time.waitFor();
    const utc = await time.getAttribute("title");
    expect(utc).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const format = {
      dateStyle: "medium",
      timeStyle: "medium",
      timeZone: "Asia/Kathmandu",
    } as const;
    const local = new Intl.DateTimeFormat("en-US", format).format(Date.parse(utc ?? ""));
    expect(normalized(await time.innerText())).toBe(normalized(local));
    shown.expectNoErrors();
  });
});

/** True for a request of the API: neither a page nor a file of the application. */
const isRead = ({ pathname }: URL): boolean => !/^\/($|ui\/|health|metrics)/.test(pathname);

/** Versions of ICU differ in the space before AM and PM. */
const normalized = (text: string): string => text.replaceAll(/\s/g, " ");

/** A port that the service can have again after a restart. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
