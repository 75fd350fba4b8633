/** A reader looks back in the browser application: points in time, older records of the log, and restores. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, inBrowser, type OpenBrowser, openBrowser } from "../support/browser.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.aged,PROD)";

const schema = (type: string) => ({
  ...{ schemaName: "aged", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: [
    {
      ...{ fieldPath: "amount", nativeDataType: type },
      type: { type: { "com.linkedin.schema.NumberType": {} } },
    },
  ],
});

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("looking back"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  /** After the first text. */
  let position: string;

  const describeDataset = async (description: string) => {
    const value = { name: "shop.aged", description };
    const { headers } = await service.client.upsert(DATASET, "datasetProperties", value);
    return headers.get("x-annals-position") ?? "";
  };

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ builtInEntities: "on" }),
      openBrowser(),
    ]);
    await service.client.upsert(DATASET, "schemaMetadata", schema("int"));
    position = await describeDataset("The first text");
    await service.client.upsert(DATASET, "schemaMetadata", schema("decimal"));
    await describeDataset("The second text");
    await service.client.upsert(DATASET, "globalTags", { tags: [{ tag: "urn:li:tag:Old" }] });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test.each([1280, 390])(
    "a position leads to the past, and its URL can be shared, at %i",
    async (width) => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}`);
      await page.getByText("The second text").waitFor();
      await page.getByRole("button", { name: "As of now" }).click();
      await shown.check();
      await page.getByLabel("Or position of the log").fill(position);
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText("The first text").waitFor();
      expect(new URL(page.url()).searchParams.get("asOf")).toBe(position);
      await page.reload();
      await page.getByText("The first text").waitFor();
      await page.getByText("differs from now").waitFor();
      await page.getByText(/Changed since: .*tag Old added/).waitFor();
      await page.getByRole("link", { name: /^Columns/ }).click();
      await page.getByRole("listitem").filter({ hasText: "amount" }).getByText("int").waitFor();
      await page.getByText("differs from now").waitFor();
      await shown.check();
      await page.getByRole("button", { name: "Back to now" }).click();
      await page.getByRole("listitem").filter({ hasText: "amount" }).getByText("decimal").waitFor();
      shown.expectNoErrors();
    },
  );

  test.each([1280, 900, 600, 360])(
    "the choice of a point in time lies inside of the page at %i, and closes on Escape and clicks",
    async (width) => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}`);
      const button = page.getByRole("button", { name: "As of now" });
      const form = page.locator(".as-of-form");
      await button.click();
      const [box, main] = [await form.boundingBox(), await page.locator("main").boundingBox()];
      if (box === null || main === null) throw new Error("the form is not visible");
      expect(box.x).toBeGreaterThanOrEqual(main.x);
      expect(box.x + box.width).toBeLessThanOrEqual(main.x + main.width);
      await page.getByLabel("Or position of the log").focus();
      await page.keyboard.press("Escape");
      await form.waitFor({ state: "detached" });
      await page.locator(".as-of button:focus", { hasText: "As of now" }).waitFor();
      await button.click();
      await page.getByRole("heading", { level: 1 }).click();
      await form.waitFor({ state: "detached" });
      await button.click();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Help" }).waitFor();
      await form.waitFor({ state: "detached" });
      shown.expectNoErrors();
    },
  );

  test("a time before the first write shows that the entity did not exist", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}`);
    await page.getByRole("button", { name: "As of now" }).click();
    await page.getByRole("button", { name: "Yesterday" }).click();
    await page.getByText("This entity did not exist at this point.").waitFor();
    expect(new URL(page.url()).searchParams.get("asOf")).toMatch(/^\d{4}-\d\d-\d\dT/);
    await shown.check();
  });

  test("lineage, relationships and search note that they show the present", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    for (const tab of ["lineage", "relationships"]) {
      const path = `/ui/entity/${encoded(DATASET)}/${tab}?asOf=${position}`;
      await page.goto(`${service.address}${path}`);
      await page.getByText("This tab shows the present").waitFor();
    }
    await page.getByRole("combobox", { name: "Search the catalog" }).pressSequentially("aged");
    await page.getByText("Search shows the present").waitFor();
    await page.getByRole("link", { name: "shop.aged" }).waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Hide" }).click();
    await page.getByText("Search shows the present").waitFor({ state: "detached" });
    shown.expectNoErrors();
  });

  test("a time limit hides edges that were written before it", async () => {
    const urnOf = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
    const upstream = (name: string, days: number) => {
      const stamp = { time: Date.now() - days * 86_400_000, actor: "urn:li:corpuser:imke" };
      const dataset = urnOf(name);
      return { dataset, type: "TRANSFORMED", auditStamp: stamp, created: stamp };
    };
    const upstreams = [upstream("edge_today", 0), upstream("edge_before", 60)];
    for (const { dataset } of upstreams) {
      await service.client.upsert(dataset, "status", { removed: false });
    }
    await service.client.upsert(DATASET, "upstreamLineage", { upstreams });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}/lineage`);
    const before = page.locator(".react-flow__node", { hasText: "edge_before" });
    await before.waitFor();
    await page.getByLabel("Edges written").selectOption("in the last week");
    await page.getByText("2 entities").waitFor();
    await page.locator(".react-flow__node", { hasText: "edge_today" }).waitFor();
    expect(await before.count()).toBe(0);
    await page.getByRole("button", { name: "Impact list" }).click();
    await page.getByRole("button", { name: "This depends on" }).click();
    await page.getByRole("link", { name: "edge_today" }).waitFor();
    expect(await page.getByRole("link", { name: "edge_before" }).count()).toBe(0);
    await shown.check();
  });

  test("the log finds the records of a run behind later ones, and reads back to its start", async () => {
    const batch = (run: string, count: number) =>
      service.client.call("POST", "/aspects?action=ingestProposalBatch", {
        proposals: Array.from({ length: count }, (_, n) => ({
          ...{ entityType: "tag", entityUrn: `urn:li:tag:${run}-${n}` },
          ...{ changeType: "UPSERT", aspectName: "status" },
          aspect: { contentType: "application/json", value: '{"removed":false}' },
          systemMetadata: { runId: run },
        })),
      });
    await batch("early", 1);
    await batch("later", 300);
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/log?run=early`);
    await page.getByRole("link", { name: "early-0" }).first().waitFor();
    await page.goto(`${service.address}/ui/log`);
    await page.getByRole("link", { name: "later-299" }).first().waitFor();
    expect(await page.getByRole("link", { name: "early-0" }).count()).toBe(0);
    const older = page.getByRole("button", { name: "Older records" });
    for (let pages = 0; pages < 20 && (await older.count()) > 0; pages++) {
      const records = await page.locator(".record").count();
      await older.click();
      await expect.poll(() => page.locator(".record").count()).toBeGreaterThan(records);
      await page.getByRole("button", { name: "Reading" }).waitFor({ state: "detached" });
    }
    await page.getByRole("link", { name: "early-0" }).first().waitFor();
    expect(await older.count()).toBe(0);
    expect(await page.locator(".record-position").last().textContent()).toBe("1");
    shown.expectNoErrors();
  });

  test("the log names the filters that match no record", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/log`);
    await page.getByLabel("User name or urn").fill("Imke Sørland");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByText(/^No record matches the filter\..* not display names\.$/).waitFor();
    await shown.check();
  });

  test("the history marks the point that the page shows, below the later changes", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}/history?asOf=${position}`);
    const rows = page.locator(".history > li");
    const point = `The page shows position ${position}. The changes above are later.`;
    await page.getByText(point).waitFor();
    const texts = await rows.allInnerTexts();
    const at = texts.findIndex((text) => text.includes(point));
    expect(texts.slice(0, at).join()).toMatch(/tag Old added/i);
    expect(texts[at + 1]).toContain(`position ${position}`);
    await shown.check();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByText(point).waitFor({ state: "detached" });
    shown.expectNoErrors();
  });

  test("a restore compares with the present, also from a page of the past", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}/history?asOf=${position}`);
    await page.getByLabel("Aspect").selectOption("datasetProperties");
    await page.getByRole("button", { name: /description changed/i }).click();
    await page.getByRole("button", { name: "Restore the value before" }).click();
    const preview = page.getByRole("dialog", { name: "Restore datasetProperties" });
    await preview.getByRole("cell", { name: "The second text" }).waitFor();
    await preview.getByText("description changed to “The first text”").waitFor();
    await shown.check();
    await preview.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("datasetProperties restored").waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.getByText("The first text").waitFor();
    shown.expectNoErrors();
  });

  test("a restore that another write comes before is rejected and explained", async () => {
    await using shown = await browser.page({ mayFail: /status of 4\d\d/ });
    const { page } = shown;
    await describeDataset("The third text");
    await page.goto(`${service.address}/ui/entity/${encoded(DATASET)}/history`);
    await page.getByLabel("Aspect").selectOption("datasetProperties");
    await page.getByRole("button", { name: /to “The third text”/ }).click();
    await page.getByRole("button", { name: "Restore the value before" }).click();
    await page.getByRole("dialog").getByRole("cell", { name: "The third text" }).waitFor();
    await describeDataset("The fourth text");
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("Somebody else wrote this aspect meanwhile").waitFor();
    const { body } = await service.client.get(`/entitiesV2/${encoded(DATASET)}`);
    expect(body.aspects.datasetProperties.value.description).toBe("The fourth text");
    shown.expectNoErrors();
  });
});
