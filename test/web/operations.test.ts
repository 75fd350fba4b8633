/** A reader operates the catalog in the browser application: runs, jobs, parked records, policies and roles. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, inBrowser, type OpenBrowser, openBrowser } from "../support/browser.ts";
import { ingestSample } from "../support/chromium.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("operating the catalog"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ builtInEntities: "on", logLevel: "silent" }),
      openBrowser(),
    ]);
    await ingestSample(service, ["--run-id", "nightly"]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  async function openOperations(page: Page): Promise<void> {
    const token = readFileSync(join(service.directory, "operator.token"), "utf8").trim();
    await page.goto(`${service.address}/ui/views`);
    await page.getByLabel("Token for operations").fill(token);
    await page.getByRole("button", { name: "Use the token" }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  }

  const actAsRoot = (page: Page) =>
    page.addInitScript(`localStorage.setItem("annals.actor", "urn:li:corpuser:datahub")`);

  test("a verification is started and shows its result", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await openOperations(page);
    await page.getByText("Not verified yet").waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("0 differences", { exact: true }).waitFor();
    await page.getByRole("row", { name: /Verify.*done/ }).waitFor();
    await shown.check();
  });

  test("the differences that a verification found are listed, and repaired", async () => {
    const urn = "urn:li:tag:Differing";
    await service.client.upsert(urn, "tagProperties", { name: "Differing" });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/search?q=Differing`);
    await page.getByRole("link", { name: "Differing" }).waitFor();
    using file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
    file.exec(`UPDATE document SET json = replace(json, 'Differing', 'Damaged')
      WHERE json LIKE '%tag:Differing%'`);
    await openOperations(page);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("dialog").getByLabel("View").selectOption("search");
    await page.getByRole("button", { name: "Start" }).click();
    const differences = page.getByRole("region", { name: "Differences" });
    await differences
      .getByRole("row", { name: /search/ })
      .first()
      .waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByLabel("Repair differences").check();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("0 differences", { exact: true }).waitFor();
    shown.expectNoErrors();
  });

  test("a view is rebuilt, and a running job is cancelled", async () => {
    // The request that started the restore reports the cancellation.
    await using shown = await browser.page({ mayFail: /status of 503/ });
    const { page } = shown;
    await openOperations(page);
    await page.getByRole("button", { name: "Rebuild" }).click();
    const dialog = page.getByRole("dialog", { name: "Rebuild" });
    await dialog.getByLabel("View").selectOption("graph");
    await shown.check();
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("row", { name: /Rebuild.*graph.*done/ }).waitFor();
    // The restore cannot end while another connection writes to the view.
    using file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
    file.exec("BEGIN IMMEDIATE");
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Start" }).click();
    const row = page.getByRole("row", { name: /Restore/ });
    await row.getByRole("button", { name: "Cancel" }).click();
    file.exec("ROLLBACK");
    await page.getByRole("row", { name: /Restore.*cancelled/ }).waitFor();
    shown.expectNoErrors();
  });

  test("a scavenge is started after a preview only", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await openOperations(page);
    await page.getByRole("button", { name: "Scavenge" }).click();
    const start = page.getByRole("button", { name: "Start" });
    expect(await start.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText(/^Take 0 events/).waitFor();
    await shown.check();
    await start.click();
    await page.getByRole("row", { name: /Scavenge.*done/ }).waitFor();
    shown.expectNoErrors();
  });

  test("a parked record shows its cause, and leaves the list after a retry", async () => {
    const tag = "urn:li:tag:Poisoned";
    using file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
    file.exec(`CREATE TRIGGER poison BEFORE INSERT ON document WHEN new.json LIKE '%${tag}%'
      BEGIN SELECT raise(ABORT, 'poisoned'); END`);
    await service.client.upsert(tag, "tagProperties", { name: "Poisoned" });
    await using shown = await browser.page();
    const { page } = shown;
    await openOperations(page);
    const row = page.getByRole("row", { name: /poisoned/ });
    await row.waitFor();
    await shown.check();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    const record = page.getByRole("listitem").filter({ hasText: "tagProperties" });
    await record.filter({ hasText: "Poisoned" }).first().getByRole("button").click();
    await page.getByText("Parked in search").waitFor();
    await page.getByRole("link", { name: "Show the cause" }).click();
    await row.getByRole("button", { name: "Drop" }).click();
    await page.getByRole("heading", { name: "Drop the parked record" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    file.exec("DROP TRIGGER poison");
    await row.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Every view has applied every record.").waitFor();
    shown.expectNoErrors();
  });

  test("a parked record that is dropped leaves the list, and the log keeps it", async () => {
    const tag = "urn:li:tag:Dropped";
    using file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
    file.exec(`CREATE TRIGGER poison BEFORE INSERT ON document WHEN new.json LIKE '%${tag}%'
      BEGIN SELECT raise(ABORT, 'poisoned'); END`);
    await service.client.upsert(tag, "tagProperties", { name: "Dropped" });
    await using shown = await browser.page();
    const { page } = shown;
    await openOperations(page);
    await page
      .getByRole("row", { name: /poisoned/ })
      .getByRole("button", { name: "Drop" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
    await page.getByText("Every view has applied every record.").waitFor();
    file.exec("DROP TRIGGER poison");
    const { body } = await service.client.get(`/entitiesV2/${encoded(tag)}`);
    expect(body.aspects.tagProperties.value.name).toBe("Dropped");
    await page.goto(`${service.address}/ui/search?q=Dropped`);
    await page.getByText("No results").waitFor();
    shown.expectNoErrors();
  });

  test("a policy is created, edited and deleted as JSON", async () => {
    await using shown = await browser.page({ mayFail: /status of 4/ });
    const { page } = shown;
    await actAsRoot(page);
    await page.goto(`${service.address}/ui/access?section=policies`);
    await page.getByRole("button", { name: "Create a policy" }).click();
    const editor = page.getByRole("textbox", { name: "Create a policy as JSON" });
    await editor.fill("{}");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    await shown.check();
    const policy = {
      type: "METADATA",
      name: "Readers of datasets",
      state: "INACTIVE",
      privileges: ["VIEW_ENTITY_PAGE"],
      actors: { users: [], allUsers: false, allGroups: false, resourceOwners: false },
    };
    await editor.fill(JSON.stringify(policy));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit Readers of datasets" }).click();
    await page.getByRole("textbox", { name: /as JSON/ }).waitFor();
    await page.getByRole("button", { name: "Delete the policy" }).click();
    await page.getByText("Policy deleted").waitFor();
    await page.getByText("Readers of datasets").waitFor({ state: "detached" });
    shown.expectNoErrors();
  });

  test("a role is assigned to a user", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await actAsRoot(page);
    await page.goto(`${service.address}/ui/access?section=roles`);
    await page.getByRole("button", { name: "Assign the role Editor" }).click();
    await page.getByRole("option", { name: /Imke/ }).click();
    await page.getByRole("row", { name: /Editor.*Imke Sørland/ }).waitFor();
    await shown.check();
  });

  test("a run is rolled back after a preview, and its entities are gone", async () => {
    await using shown = await browser.page({ mayFail: /status of 404/ });
    const { page } = shown;
    await page.goto(`${service.address}/ui/runs`);
    await page.getByRole("link", { name: "nightly" }).click();
    await page.getByRole("link", { name: "forecast" }).first().waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back the run" });
    await dialog.getByText("25", { exact: true }).waitFor();
    await shown.check();
    await dialog.getByLabel(/Delete the entities/).check();
    await dialog.getByText("Deleted", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Rolled back 25 entities").waitFor();
    await page.getByText("No writes").waitFor();
    await page.goto(`${service.address}/ui/search?q=forecast`);
    await page.getByText("No results").waitFor();
    const { body } = await service.client.get(`/entitiesV2/${encoded(forecast)}`);
    expect(Object.keys(body.aspects)).toEqual(["datasetKey"]);
    shown.expectNoErrors();
  });
});
