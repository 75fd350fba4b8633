/** The browser application by keyboard alone: order and visibility of the focus, dialogs, and shortcuts. */
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  browserPath,
  inBrowser,
  type OpenBrowser,
  openBrowser,
  writeSample,
} from "../support/browser.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const FORECAST = encoded(
  "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)",
);

/** Values of a facet that is replaced when its counts arrive. */
const UNCOUNTED = ".facet-value:not(:has(.num))";

/** Pages, with an element that is there when they are complete. */
const paths: readonly (readonly [path: string, shows: string])[] = [
  ["/", "Recent changes"],
  ["/ui/search?q=seed", "Seed keepers"],
  ["/ui/browse?section=glossary", "Seed physiology"],
  [`/ui/entity/${FORECAST}/documentation`, "Owners"],
  [`/ui/entity/${FORECAST}/columns`, "Tags and terms"],
  [`/ui/entity/${FORECAST}/relationships`, "Owners"],
  [`/ui/entity/${FORECAST}/history`, "Owners"],
  ["/ui/log?since=week&aspect=domains", "Pause"],
  ["/ui/runs", "Last write"],
  ["/ui/views", "Accepts writes"],
  ["/ui/access?section=roles", "Editor"],
];

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("the keyboard alone"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ builtInEntities: "on" }),
      openBrowser(),
    ]);
    await writeSample(service);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test.each(paths)(
    "the focus visits each control of %s, in order and visibly",
    async (path, shows) => {
      await using shown = await browser.page();
      const { page } = shown;
      await page.goto(`${service.address}${path}`);
      await page.getByText(shows, { exact: true }).first().waitFor();
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await page.locator(UNCOUNTED).first().waitFor({ state: "detached" });
      await page.evaluate(markControls);
      const count = await page.evaluate<number>("globalThis.controls.length");
      const visited: Stop[] = [];
      for (let n = 0; n < count; n++) {
        await page.keyboard.press("Tab");
        visited.push(await page.evaluate<Stop>(stop));
      }
      expect(visited.filter(({ outlined }) => !outlined)).toEqual([]);
      expect(visited.filter(({ covered }) => covered)).toEqual([]);
      expect(visited.map(({ n }) => n)).toEqual(visited.map((_, n) => n));
      shown.expectNoErrors();
    },
  );

  const dialogs: readonly (readonly [title: string, path: string, button: string])[] = [
    ["Help", "/", "Keyboard shortcuts and help"],
    ["Acting user", "/", "No acting user"],
    ["Create a tag", "/ui/browse?section=tags", "Create a tag"],
    ["Add an owner", `/ui/entity/${FORECAST}`, "Add an owner"],
    ["Assign the role Editor", "/ui/access?section=roles", "Assign the role Editor"],
    ["Editor", "/ui/access?section=roles", "The role Editor as JSON"],
  ];

  test.each(dialogs)(
    "the dialog %s keeps the focus, and Escape returns it",
    async (title, path, name) => {
      await using shown = await browser.page();
      const { page } = shown;
      await page.goto(`${service.address}${path}`);
      const button = page.getByRole("button", { name }).first();
      await button.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: title });
      await dialog.waitFor();
      await shown.check();
      for (let n = 0; n < 30; n++) {
        await page.keyboard.press(n < 20 ? "Tab" : "Shift+Tab");
        expect(await page.evaluate(focusIsInside)).toBe(true);
      }
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await hasFocus(button)).toBe(true);
      shown.expectNoErrors();
    },
  );

  test("a dialog of the menu of actions returns the focus to the menu", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${FORECAST}`);
    const menu = page.getByLabel("Actions");
    await menu.focus();
    await menu.selectOption("Deprecate");
    const dialog = page.getByRole("dialog", { name: /^Deprecate/ });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await hasFocus(menu)).toBe(true);
    shown.expectNoErrors();
  });

  test("shortcuts of single keys can be turned off, and stay off", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(service.address);
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.keyboard.press("?");
    const shortcuts = page.getByRole("dialog", { name: "Help" });
    for (const text of ["Search (also Ctrl K)", "Views and jobs", "This help"]) {
      await shortcuts.getByText(text, { exact: true }).waitFor();
    }
    await shortcuts.getByRole("checkbox", { name: /^Shortcuts that begin with/ }).click();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.keyboard.press("?");
    await page.keyboard.press("/");
    expect(await page.getByRole("dialog").count()).toBe(0);
    const field = page.getByRole("combobox", { name: "Search the catalog" });
    expect(await hasFocus(field)).toBe(false);
    await page.keyboard.press("Control+k");
    expect(await hasFocus(field)).toBe(true);
    shown.expectNoErrors();
  });
});

const hasFocus = async (control: Locator): Promise<boolean> =>
  (await control.and(control.page().locator(":focus")).count()) === 1;

/** A stop of the Tab key. */
interface Stop {
  /** Index among the controls; -1 for another element. */
  readonly n: number;
  readonly element: string;
  readonly outlined: boolean;
  /** Another element lies over it. */
  readonly covered: boolean;
}

/** Runs in the page: the controls that the Tab key should visit, in the order of the document. */
const markControls = `(() => {
  document.activeElement?.blur();
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")];
  globalThis.controls = all.filter((one) =>
    one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }));
})()`;

/** Runs in the page: describes the element with the focus. */
const stop = `(() => {
  const element = document.activeElement;
  // The record of a log is outlined as a whole line.
  const outlined = [element, element.parentElement].some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  });
  const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
  const top = document.elementFromPoint(
    Math.min(innerWidth - 1, box.left + Math.min(8, box.width / 2)),
    box.top + Math.min(8, box.height / 2),
  );
  return {
    n: globalThis.controls.indexOf(element),
    element: element.outerHTML.slice(0, 160),
    outlined,
    covered: top !== null && !element.contains(top) && !top.contains(element),
  };
})()`;

/** Runs in the page. Between the last and the first control, the browser itself has the focus. */
const focusIsInside = `document.activeElement === document.body ||
  document.activeElement.closest("dialog") !== null`;
