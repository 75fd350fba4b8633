/**
 * The browser application in a browser: a service with the built page, and pages of Chromium that fail a test for
 * each error on the console and each violation of the content security policy.
 */
import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
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

/** Runs in each page before its scripts. */
const reportViolations = `document.addEventListener("securitypolicyviolation", (violation) => {
  console.error("violates " + violation.violatedDirective + ": " + violation.blockedURI);
});`;

export interface OpenBrowser extends AsyncDisposable {
  /** A page of its own context, with its own cookies. */
  page(options?: PageOptions): Promise<WatchedPage>;
}

interface PageOptions {
  /** Width of the window. */
  readonly width?: number;
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
  return {
    page: (options) => watchedPage(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function watchedPage(
  browser: Browser,
  { width = 1280, mayFail }: PageOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  const page = await context.newPage();
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
  await page.addInitScript(reportViolations);
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
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Runs in the page: findings for WCAG 2.2 AA, each with its elements. */
const findings = `(async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await axe.run({ runOnly: tags });
  return violations.map(
    ({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | "),
  );
})()`;

async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(findings);
}

/** Writes the sample to a service, as the command that the start message names. */
export const writeSample = (service: RunningService): Promise<void> => ingestSample(service);
