/**
 * The browser application in a browser: a service with the built page, and pages of Chromium that fail a test for
 * each error on the console and each violation of the content security policy.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { browserPath, ingestSample, startChromium } from "./chromium.ts";
import type { RunningService } from "./running-service.ts";

export { browserPath };

/** Names a suite; says why the suite is skipped on a machine without Chromium. */
export const inBrowser = (subject: string): string => {
  if (browserPath === undefined) {
    console.warn(
      `skipped, because Chromium is not installed (apt-get install chromium): ${subject}`,
    );
  }
  return subject;
};

/** Runs in each page before its scripts. The first document of a page begins with empty storage. */
const prepareDocument = `document.addEventListener("securitypolicyviolation", (violation) => {
  console.error("violates " + violation.violatedDirective + ": " + violation.blockedURI);
});
if (location.protocol === "http:" && sessionStorage.getItem("begun") === null) {
  localStorage.clear();
  sessionStorage.setItem("begun", "yes");
}`;

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** Limit for each wait for an element: it only ends tests that hang. */
const waitMsMax = 60_000;

export interface OpenBrowser extends AsyncDisposable {
  /** A new page. Pages share the cache of the browser, which saves most of the time of a load. */
  page(options?: PageOptions): Promise<WatchedPage>;
}

interface PageOptions {
  /** Width of the window. */
  readonly width?: number;
  /** The zone of the reader, of a page that is alone. */
  readonly timezone?: string;
  /** The page shares no cookies, storage and cache with others. */
  readonly alone?: boolean;
  /** Reports the request of a page that fails on purpose. */
  readonly mayFail?: RegExp;
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails for errors and violations so far, and for findings of axe on the page as it is. */
  check(): Promise<void>;
  /** Fails for errors and violations so far. */
  expectNoErrors(): void;
}

/** Starts Chromium with the built application. */
export async function openBrowser(): Promise<OpenBrowser> {
  const browser = await startChromium();
  const shared = await browser.newContext();
  return {
    async page({ alone = false, timezone, ...options } = {}) {
      const zone = timezone === undefined ? {} : { timezoneId: timezone };
      const context = alone ? await browser.newContext(zone) : shared;
      const watched = await watchedPage(context, options);
      return {
        ...watched,
        [Symbol.asyncDispose]: () => (alone ? context.close() : watched.page.close()),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function watchedPage(
  context: BrowserContext,
  { width = 1280, mayFail }: PageOptions,
): Promise<Omit<WatchedPage, typeof Symbol.asyncDispose>> {
  const page = await context.newPage();
  page.setDefaultTimeout(waitMsMax);
  await page.setViewportSize({ width, height: 800 });
  const errors: string[] = [];
  const note = (text: string): void => {
    if (mayFail?.test(text) !== true) errors.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error") note(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => note(`uncaught ${error.message}`));
  page.on("dialog", (dialog) => {
    note(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(prepareDocument);
  const expectNoErrors = (): void => expect(errors, page.url()).toEqual([]);
  return {
    page,
    context,
    expectNoErrors,
    async check() {
      // Reports the findings of later pages, too.
      expect.soft(await axeFindings(page), page.url()).toEqual([]);
      expectNoErrors();
    },
  };
}

/** Runs in the page: findings for WCAG 2.2 AA, each with its elements. */
const findings = `(async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await axe.run({ runOnly: tags, resultTypes: ["violations"] });
  return violations.map(
    ({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | "),
  );
})()`;

async function axeFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  return await page.evaluate<string[]>(findings);
}

/** Writes the sample to a service, as the command that the start message names. */
export const writeSample = (service: RunningService): Promise<void> => ingestSample(service);
