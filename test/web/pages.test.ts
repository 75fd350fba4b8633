/** Every page of the browser application is accessible: narrow and dark, and wide and light. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  browserPath,
  inBrowser,
  type OpenBrowser,
  openBrowser,
  type WatchedPage,
} from "../support/browser.ts";
import { ingestSample } from "../support/chromium.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

interface Visit {
  readonly path: string;
  readonly heading: string;
  /** A text of the loaded page. */
  readonly shows: string | RegExp;
}

const visits: readonly Visit[] = [
  { path: "/", heading: "Catalog", shows: "Recent changes" },
  { path: "/ui/search?q=seed", heading: "Search", shows: "Seed keepers" },
  { path: "/ui/search?q=xyzzy", heading: "Search", shows: "No results" },
  { path: "/ui/browse", heading: "Browse", shows: "PostgreSQL" },
  { path: "/ui/browse?section=domains", heading: "Browse", shows: "Conservation" },
  { path: "/ui/browse?section=glossary", heading: "Browse", shows: "Seed physiology" },
  { path: "/ui/browse?section=products", heading: "Browse", shows: "No data products yet" },
  { path: "/ui/browse?section=tags", heading: "Browse", shows: "PersonalData" },
  { path: "/ui/browse?section=users", heading: "Browse", shows: "Imke Sørland" },
  { path: "/ui/browse?section=groups", heading: "Browse", shows: "Seed keepers" },
  { path: "/ui/log?since=week&aspect=ownership", heading: "Log", shows: /^owner .* added/ },
  { path: "/ui/runs", heading: "Runs", shows: "nightly" },
  { path: "/ui/runs?run=nightly", heading: "nightly", shows: "schemaMetadata" },
  { path: "/ui/views", heading: "Views and jobs", shows: "Accepts writes" },
  { path: "/ui/access", heading: "Access", shows: "No tokens" },
  { path: "/ui/access?section=all", heading: "Access", shows: "No tokens" },
  { path: "/ui/access?section=policies", heading: "Access", shows: "Root user: platform" },
  { path: "/ui/access?section=roles", heading: "Access", shows: "Editor" },
  { path: "/ui/access?section=audit", heading: "Access", shows: /needs a token/ },
  { path: "/api/graphiql", heading: "GraphQL", shows: "Variables" },
  { path: "/ui/nothing", heading: "This page does not exist", shows: "Go to the home page" },
];

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("all pages"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ builtInEntities: "on" }),
      openBrowser(),
    ]);
    await ingestSample(service, ["--run-id", "nightly"]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const actAsRoot = (page: Page) =>
    page.addInitScript(`localStorage.setItem("annals.actor", "urn:li:corpuser:datahub")`);

  describe.each([
    { width: 390, colorScheme: "dark" },
    { width: 1440, colorScheme: "light" },
  ] as const)("at a width of $width, $colorScheme", ({ width, colorScheme }) => {
    // One page visits all: a page of its own for each takes longer than the visit.
    let shown: WatchedPage;
    beforeAll(async () => {
      shown = await browser.page({ width });
      await actAsRoot(shown.page);
      await shown.page.emulateMedia({ colorScheme });
    });
    afterAll(() => shown?.[Symbol.asyncDispose]());

    test.each(visits)("$path is accessible", async ({ path, heading, shows }) => {
      const { page } = shown;
      await page.goto(`${service.address}${path}`);
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
      await page.getByRole("main").getByText(shows).filter({ visible: true }).first().waitFor();
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      await shown.check();
      expect(await page.title()).toMatch(/ · Annals$/);
      await expect.poll(() => hasScroll(page)).toBe(false);
    });

    test("the help and the operations with a token are accessible", async () => {
      const { page } = shown;
      await page.goto(`${service.address}/ui/views`);
      await page.getByLabel("Token for operations").fill(adminToken(service));
      await page.getByRole("button", { name: "Use the token" }).click();
      await page.getByText("Every view has applied every record.").waitFor();
      await shown.check();
      await page.getByRole("button", { name: "Keyboard shortcuts and help" }).click();
      await page.getByRole("heading", { name: "Shortcuts" }).waitFor();
      await shown.check();
    });
  });

  test("the first screen loads at most 200 kB of JavaScript", async () => {
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    await page.goto(service.address);
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    const bytes = await page.evaluate<number>(`performance.getEntriesByType("resource")
      .filter(({ name }) => name.endsWith(".js"))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(200_000);
  });

  test("the address /ui leads to the home page", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui`);
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    shown.expectNoErrors();
  });

  test("the chosen theme outlasts the page", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(service.address);
    const ground = () =>
      page.evaluate<string>("getComputedStyle(document.body.parentElement).backgroundColor");
    await page.getByRole("button", { name: "Dark theme" }).click();
    const dark = await ground();
    await page.reload();
    await page.getByRole("button", { name: "Dark theme", pressed: true }).waitFor();
    expect(await ground()).toBe(dark);
    await page.getByRole("button", { name: "Light theme" }).click();
    expect(await ground()).not.toBe(dark);
    shown.expectNoErrors();
  });
});

const adminToken = ({ directory }: RunningService): string =>
  readFileSync(join(directory, "operator.token"), "utf8").trim();

/** True for a page that scrolls sideways, or has a table that does. */
const hasScroll = (page: Page): Promise<unknown> =>
  page.evaluate(`[document.documentElement, ...document.querySelectorAll(".table-scroll")].some(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  )`);
