/** A reader changes the catalog in the browser application: history, aspects as JSON, export and tokens. */
import { readFileSync } from "node:fs";
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

const FORECAST = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("changing the catalog"), () => {
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

  test("a removed owner is found in the log and put back from the history", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(FORECAST)}`);
    await page.getByRole("button", { name: "Remove Tomasz Wren" }).click();
    await page.getByText("Owner removed").waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("link", { name: "Last 7 days" }).click();
    await page.getByRole("heading", { level: 1, name: "Log", exact: true }).waitFor();
    // The line of a record is a part of its button.
    await page.getByText("owner Tomasz Wren removed").click({ force: true });
    await page.getByRole("link", { name: "History of the entity" }).click();
    await page.getByRole("button", { name: /owner Tomasz Wren removed/i }).click();
    await page.getByRole("button", { name: "Restore the value before" }).click();
    const preview = page.getByRole("dialog", { name: "Restore ownership" });
    await preview.getByText("owner Tomasz Wren added").waitFor();
    await shown.check();
    await preview.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("ownership restored").waitFor();
    await page.getByRole("button", { name: "Remove Tomasz Wren" }).waitFor();
    shown.expectNoErrors();
  });

  test("a paused log shows new records after it is followed again", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/log?type=tag`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await service.client.upsert("urn:li:tag:Paused", "tagProperties", { name: "Paused" });
    await page.getByText("Paused", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Paused" }).count()).toBe(0);
    await page.getByRole("button", { name: "Follow" }).click();
    await page.getByRole("link", { name: "Paused" }).first().waitFor();
    shown.expectNoErrors();
  });

  test("each page of the runs has a URL, and the back button returns to the first", async () => {
    const proposals = Array.from({ length: 60 }, (_, n) => ({
      ...{ entityType: "tag", entityUrn: `urn:li:tag:Listed${n}` },
      ...{ changeType: "UPSERT", aspectName: "status" },
      aspect: { contentType: "application/json", value: '{"removed":false}' },
      systemMetadata: { runId: `listed-${n}` },
    }));
    await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/runs`);
    await page.getByRole("button", { name: "Next" }).click();
    await page.waitForURL(/\/ui\/runs\?page=2$/);
    await page.getByRole("button", { name: "Next", disabled: true }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Previous", disabled: true }).waitFor();
    await page.getByRole("button", { name: "Next", disabled: false }).waitFor();
    shown.expectNoErrors();
  });

  test("an edit of an aspect marks the line of an error, and explains a conflict", async () => {
    const urn = "urn:li:tag:Edited";
    await service.client.upsert(urn, "tagProperties", { name: "Edited" });
    await using shown = await browser.page({ mayFail: /status of 4\d\d/ });
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(urn)}/aspects?aspect=tagProperties`);
    const editor = page.getByRole("textbox", { name: "Value of tagProperties" });
    const save = page.getByRole("button", { name: "Save" });
    await editor.fill('{\n  "name": "Edited",\n  "description": 7\n}');
    await save.click();
    await page.locator(".editor-error", { hasText: "description" }).waitFor();
    await page.locator(".cm-lintRange-error").first().waitFor();
    await service.client.upsert(urn, "tagProperties", { name: "Edited elsewhere" });
    await editor.fill('{ "name": "Edited here" }');
    await save.click();
    await page.getByText("Somebody else wrote this aspect meanwhile").waitFor();
    await shown.check();
  });

  test("the whole result of a search is exported", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=forecast`);
    await page.locator("a.hit-name").first().waitFor();
    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    expect(readFileSync(await csv.path(), "utf8")).toContain(FORECAST);
    const [json] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "JSON" }).click(),
    ]);
    const urns = JSON.parse(readFileSync(await json.path(), "utf8")).map(
      ({ urn }: { urn: string }) => urn,
    );
    expect(urns).toContain(FORECAST);
    shown.expectNoErrors();
  });

  test("tokens and policies ask for a user where the system acts", async () => {
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    for (const section of ["tokens", "all", "policies"]) {
      await page.goto(`${service.address}/ui/access?section=${section}`);
      await page.getByRole("main").getByText("No acting user").waitFor();
      await page.getByRole("button", { name: "No acting user" }).waitFor();
    }
    await shown.check();
    await page.getByRole("button", { name: "Act as the root user" }).click();
    await page.getByText("Root user: platform").waitFor();
    await page.getByRole("button", { name: /Acting as.*\(root user\)/ }).waitFor();
    shown.expectNoErrors();
  });

  test("a new token is shown once, and revoked", async () => {
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    await page.goto(`${service.address}/ui/access`);
    await page.getByRole("button", { name: "Act as the root user" }).click();
    await page.getByRole("button", { name: "Create a token" }).click();
    await page.getByLabel("Name").fill("nightly loader");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "The new token" });
    expect(await dialog.getByRole("textbox", { name: "Token" }).inputValue()).not.toBe("");
    await shown.check();
    await page.keyboard.press("Escape");
    const row = page.getByRole("row", { name: /nightly loader/ });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Token revoked").waitFor();
    await row.waitFor({ state: "detached" });
    shown.expectNoErrors();
  });
});
