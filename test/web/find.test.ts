/** A reader finds entities in the browser application: the home page, the search page, the keyboard, the back button. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  browserPath,
  inBrowser,
  type OpenBrowser,
  openBrowser,
  writeSample,
} from "../support/browser.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const FORECAST = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("finding entities"), () => {
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

  describe.each([1280, 390])("at a width of %i", (width) => {
    test("the home page shows counts, recent changes and the health of the views", async () => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await page.goto(service.address);
      await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
      const counts = page.getByRole("list", { name: "Entities by type" });
      await counts.getByRole("link", { name: /Datasets/ }).waitFor();
      await page.getByRole("heading", { name: "Recent changes" }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await shown.check();
    });

    test("a search shows results while the reader types, and filters narrow them", async () => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await page.goto(service.address);
      await page.getByRole("combobox", { name: "Search the catalog" }).pressSequentially("seed");
      await page.getByRole("link", { name: "Seed physiology" }).waitFor();
      expect(new URL(page.url()).pathname).toBe("/ui/search");
      const filters = page.getByRole("complementary", { name: "Filters" });
      if (width < 600) await filters.getByRole("button", { name: "Filters" }).click();
      await filters.getByRole("checkbox", { name: /Datasets/ }).check();
      await page.getByRole("link", { name: "Seed physiology" }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "germination_test" }).waitFor();
      await shown.check();
    });
  });

  test("a result shows an owner of two ownership types once", async () => {
    const urn = "urn:li:dashboard:(looker,labelled-pair)";
    const owner = "urn:li:corpuser:ann";
    const owners = ["TECHNICAL_OWNER", "DATA_STEWARD"].map((type) => ({ owner, type }));
    await service.client.upsert(urn, "ownership", { owners });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=labelled-pair`);
    const hit = page.getByRole("listitem").filter({ hasText: "labelled-pair" });
    await hit.getByText("Owned by").waitFor();
    expect(await hit.locator(`.chip[title="${owner}"]`).count()).toBe(1);
    shown.expectNoErrors();
  });

  test("the values of a structured property are a facet", async () => {
    const urn = "urn:li:structuredProperty:shelf";
    const definition = {
      ...{ qualifiedName: "shelf", displayName: "Shelf", cardinality: "SINGLE" },
      valueType: "urn:li:dataType:datahub.string",
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    };
    const properties = [{ propertyUrn: urn, values: [{ string: "upper" }] }];
    await service.client.upsert(urn, "propertyDefinition", definition);
    const { status } = await service.client.upsert(FORECAST, "structuredProperties", {
      properties,
    });
    expect(status).toBe(200);
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search`);
    const facet = page.getByRole("group", { name: "Shelf" });
    await facet.getByRole("checkbox", { name: "upper" }).check();
    await page.getByText("1 result", { exact: true }).waitFor();
    await page.getByRole("link", { name: "forecast", exact: true }).waitFor();
    await shown.check();
  });

  test("a filter by a tag finds as many entities as its facet counts, with those of columns", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    for (const name of ["PersonalData", "LastOfItsKind", "RegrowSoon"]) {
      await page.goto(`${service.address}/ui/search?q=*`);
      const value = page.getByRole("group", { name: "Tag" }).locator("label", { hasText: name });
      const count = await value.getByText(/^\d+$/).innerText();
      await value.click();
      await page.getByText(new RegExp(`^${count} results?$`)).waitFor();
      await page.goto(`${service.address}/ui/browse?section=tags`);
      const card = page.getByRole("listitem").filter({ hasText: name });
      await card.getByTitle("Search all of them").filter({ hasText: count }).waitFor();
    }
    await shown.check();
  });

  test("a query with an error names it", async () => {
    await using shown = await browser.page({ mayFail: /status of 400/ });
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=${encodeURIComponent('owner:(nobody OR "x')}`);
    await page.getByText("The query has an error").waitFor();
    await page.getByText("A quote is not closed.").waitFor();
    await page.getByText("A bracket is not closed.").waitFor();
    await page.getByText('owner is not a field. Did you mean "owners"?').waitFor();
    await shown.check();
    await page.getByRole("combobox", { name: "Search the catalog" }).fill("owners:nobody");
    await page.getByText("No results").waitFor();
    shown.expectNoErrors();
  });

  test("results have pages with URLs, and a page after the last leads to the first", async () => {
    for (let n = 10; n < 35; n++) {
      await service.client.upsert(`urn:li:tag:Paged${n}`, "tagProperties", { name: `Paged ${n}` });
    }
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=paged&sort=name`);
    await page.getByText("Page 1 of 2").waitFor();
    await page.getByRole("link", { name: "Paged 29" }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("link", { name: "Paged 30" }).waitFor();
    expect(new URL(page.url()).searchParams.get("page")).toBe("2");
    await shown.check();
    await page.goBack();
    await page.getByRole("link", { name: "Paged 29" }).waitFor();
    await page.goto(`${service.address}/ui/search?q=paged&sort=name&page=9`);
    await page.getByRole("button", { name: "Show the first page" }).click();
    await page.getByRole("link", { name: "Paged 10" }).waitFor();
    shown.expectNoErrors();
  });

  test("the URL of a search can be shared, and the back button returns to it", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=forecast`);
    await page.getByRole("link", { name: "forecast", exact: true }).first().click();
    await page.waitForURL(/\/ui\/entity\//);
    await page.goBack();
    await page.getByRole("link", { name: "forecast", exact: true }).first().waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("forecast");
    await page.reload();
    await page.getByRole("link", { name: "forecast", exact: true }).first().waitFor();
    shown.expectNoErrors();
  });

  test("the keyboard alone finds and opens an entity", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(service.address);
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("germination_test");
    await page.waitForURL(/q=germination_test/);
    await page.locator("a.hit-name", { hasText: "germination_test" }).first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/ui\/entity\//);
    await page.getByRole("heading", { level: 1 }).waitFor();
    shown.expectNoErrors();
  });

  test("the search field completes fields and values of the query language", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search`);
    const field = page.getByRole("combobox", { name: "Search the catalog" });
    await field.pressSequentially("own");
    await page.getByRole("option", { name: "owners: Owner", exact: true }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await field.pressSequentially("imk");
    await page.getByRole("option", { name: "Imke Sørland" }).waitFor();
    await shown.check();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    expect(await field.inputValue()).toBe("owners:imke.sorland ");
    await page.getByRole("link", { name: "grower" }).waitFor();
    await page.keyboard.press("Control+Space");
    await page.getByRole("option", { name: "NOT without the next part" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".completion").first().waitFor({ state: "detached" });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/ui\/entity\//);
    shown.expectNoErrors();
  });

  test("the glossary is a tree, in which groups and terms are created", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/browse?section=glossary`);
    await page.getByRole("link", { name: "Orthodox seed" }).waitFor();
    await page.getByRole("button", { name: "Create a term group" }).click();
    await page.getByLabel("Name").fill("Harvest");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Harvest" }).waitFor();
    await page.goto(`${service.address}/ui/browse?section=glossary`);
    await page.getByRole("button", { name: "Create a term", exact: true }).click();
    await page.getByLabel("Name").fill("Threshing");
    await page.getByRole("button", { name: "Choose" }).click();
    await page.getByRole("combobox", { name: "Term group" }).fill("Harv");
    await page.getByRole("option", { name: "Harvest" }).click();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Threshing" }).waitFor();
    await page.goto(`${service.address}/ui/browse?section=glossary`);
    const branch = page.getByRole("listitem").filter({ hasText: "Harvest" });
    await branch.getByRole("link", { name: "Threshing" }).waitFor();
    shown.expectNoErrors();
  });

  test("a new change appears on the home page without a reload", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(service.address);
    await page.getByText("Live", { exact: true }).waitFor();
    const tag = "urn:li:tag:Arrived";
    await service.client.upsert(tag, "tagProperties", { name: "Arrived just now" });
    await page.getByRole("link", { name: "Arrived just now" }).first().waitFor();
    shown.expectNoErrors();
  });

  test("an empty catalog loads the sample with one click", async () => {
    await using empty = await runningService({ builtInEntities: "on" });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(empty.address);
    await page.getByRole("heading", { name: "The catalog is empty" }).waitFor();
    await page.getByText(`annals -- ingest --server ${empty.address} catalog.json`).waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Load the sample" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog", exact: true }).waitFor();
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("link", { name: /^annals-.*Z-[0-9a-f]{4}$/ }).click();
    await page.getByRole("button", { name: "Roll back", disabled: false }).waitFor();
    shown.expectNoErrors();
  });

  test("a lost connection is shown, and the page recovers", async () => {
    await using shown = await browser.page({ mayFail: /ERR_|Failed to load|Failed to fetch/ });
    const { page, context } = shown;
    await page.goto(service.address);
    await page.getByText(/^Connected/).waitFor();
    await context.route("**/*", (route) => route.abort());
    await page.getByText(/Connection lost/).waitFor();
    await context.unroute("**/*");
    await page.getByText(/^Connected/).waitFor();
    shown.expectNoErrors();
  });
});
