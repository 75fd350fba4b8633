/** A reader edits an entity in the browser application: texts, links, labels, deprecation and deletion. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
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

const ACCESSION = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("editing an entity"), () => {
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

  const aspectsOf = async (urn: string) =>
    (await service.client.get(`/entitiesV2/${encoded(urn)}`)).body.aspects;

  const open = async (page: Page, tab = ""): Promise<void> => {
    await page.goto(`${service.address}/ui/entity/${encoded(ACCESSION)}${tab}`);
    await page.getByRole("heading", { level: 1, name: "accession" }).waitFor();
  };

  test("an owner gets a type of ownership that users have added", async () => {
    const curator = "urn:li:ownershipType:curator";
    const stamps = { created: { time: 1, actor: "urn:li:corpuser:datahub" } };
    await service.client.upsert(curator, "ownershipTypeInfo", {
      ...{ name: "Curator", ...stamps, lastModified: stamps.created },
    });
    await using shown = await browser.page();
    const { page } = shown;
    await open(page);
    await page.getByRole("button", { name: "Add an owner" }).click();
    const types = page.getByLabel("Type of ownership");
    await types.locator("option", { hasText: "Curator" }).waitFor({ state: "attached" });
    expect(await types.locator("option").allTextContents()).toEqual(
      expect.arrayContaining(["Business Owner", "Curator", "Data Steward", "Technical Owner"]),
    );
    expect(await types.locator("option:checked").textContent()).toBe("Technical Owner");
    await types.selectOption({ label: "Curator" });
    await page.getByRole("combobox", { name: "Find a user or group" }).fill("imke");
    await page.getByRole("listbox").getByRole("option", { name: "Imke" }).first().click();
    await page.locator(".chip", { hasText: "Curator" }).waitFor();
    const { owners } = (await aspectsOf(ACCESSION)).ownership.value;
    expect(owners).toContainEqual(expect.objectContaining({ type: "CUSTOM", typeUrn: curator }));
    shown.expectNoErrors();
  });

  test("a description that somebody else changed meanwhile is replaced at the second attempt only", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await open(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Description, in Markdown").fill("My text");
    await service.client.upsert(ACCESSION, "editableDatasetProperties", { description: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody else changed this text meanwhile to “Theirs”").waitFor();
    expect((await aspectsOf(ACCESSION)).editableDatasetProperties.value.description).toBe("Theirs");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Description saved").waitFor();
    await page.locator(".markdown", { hasText: "My text" }).waitFor();
    expect((await aspectsOf(ACCESSION)).editableDatasetProperties.value.description).toBe(
      "My text",
    );
    shown.expectNoErrors();
  });

  test.each([1280, 390])(
    "a column gets a description and a tag, and loses the tag, at %i",
    async (width) => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await open(page, "/columns");
      const row = page.getByRole("list", { name: "Columns" }).getByRole("listitem").first();
      const text = `The first column, at ${width}`;
      await row.getByRole("button", { name: /edit the description of/ }).click();
      await row.getByRole("textbox").fill(text);
      await page.keyboard.press("Enter");
      await page.getByText("Description saved").waitFor();
      await row.getByText(text).waitFor();
      await row.getByRole("button", { name: "Add a tag or term" }).click();
      await page.getByRole("combobox", { name: "Find a tag or term" }).fill("RegrowSoon");
      await page.getByRole("option", { name: /RegrowSoon/ }).click();
      await page.getByText("Label added").waitFor();
      await row.getByRole("button", { name: "Remove RegrowSoon" }).click();
      await page.getByText("Tag removed").waitFor();
      await row.getByRole("button", { name: "Remove RegrowSoon" }).waitFor({ state: "detached" });
      const info = (await aspectsOf(ACCESSION)).editableSchemaMetadata.value
        .editableSchemaFieldInfo;
      expect(info).toContainEqual(
        expect.objectContaining({ description: text, globalTags: { tags: [] } }),
      );
      await shown.check();
    },
  );

  test("a link is added and removed", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await open(page);
    await page.getByLabel("Actions").selectOption("Add a link");
    await page.getByLabel("Address").fill("https://example.org/runbook");
    await page.getByLabel("Text").fill("Runbook");
    await shown.check();
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    await page.getByText("Link added").waitFor();
    expect(await page.getByRole("link", { name: "Runbook" }).getAttribute("href")).toBe(
      "https://example.org/runbook",
    );
    await page.getByRole("button", { name: "Remove the link Runbook" }).click();
    await page.getByText("Link removed").waitFor();
    await page.getByRole("link", { name: "Runbook" }).waitFor({ state: "detached" });
    const urls = (await aspectsOf(ACCESSION)).institutionalMemory.value.elements.map(
      ({ url }: { url: string }) => url,
    );
    expect(urls).toEqual(["https://marrowhill.example/handbook/accession"]);
    shown.expectNoErrors();
  });

  test("an entity is deprecated, and deleted, and both are undone", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await open(page);
    const choose = (action: string) => page.getByLabel("Actions").selectOption(action);
    await choose("Deprecate");
    await page.getByLabel("Note for readers").fill("Use the new one");
    await page.getByRole("button", { name: "Deprecate" }).click();
    await page.getByText("Deprecated: Use the new one").waitFor();
    await page.getByText("Deprecated", { exact: true }).waitFor();
    await shown.check();
    await choose("Remove the deprecation");
    await page.getByText("No longer deprecated").waitFor();
    await choose("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("This entity is soft-deleted").waitFor();
    await page.getByText("Deleted", { exact: true }).waitFor();
    expect((await aspectsOf(ACCESSION)).status.value.removed).toBe(true);
    await choose("Undo the deletion");
    await page.getByText("Restored").waitFor();
    await page.getByText("This entity is soft-deleted").waitFor({ state: "detached" });
    shown.expectNoErrors();
  });

  test("a new tag and a new domain are created from the page of the entity", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await open(page);
    await page.getByRole("button", { name: "Add a tag" }).click();
    await page.getByRole("combobox", { name: "Find a tag" }).fill("Dried");
    await page.getByRole("option", { name: "Create “Dried”" }).click();
    await page.getByText("Tag created and added").waitFor();
    await page.getByRole("button", { name: "Remove Dried" }).waitFor();
    await page.getByRole("button", { name: "Add a domain" }).click();
    await page.getByRole("combobox", { name: "Find a domain" }).fill("Storage");
    await page.getByRole("option", { name: "Create “Storage”" }).click();
    await page.getByText("Domain created and set").waitFor();
    await page.getByRole("button", { name: "Remove Storage" }).waitFor();
    shown.expectNoErrors();
  });

  test("an aspect is copied as a cURL command, which writes it", async () => {
    await using shown = await browser.page({ alone: true });
    const { page, context } = shown;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.addInitScript(
      `localStorage.setItem("annals.actor", "urn:li:corpuser:imke.sorland")`,
    );
    const urn = "urn:li:tag:RegrowSoon";
    await page.goto(`${service.address}/ui/entity/${encoded(urn)}/aspects?aspect=tagProperties`);
    const editor = page.getByRole("textbox", { name: "Value of tagProperties" });
    await editor.fill(`{ "name": "it's soon" }`);
    await page.getByRole("button", { name: "Copy as cURL" }).click();
    await page.getByText("Copied").waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    await promisify(execFile)("sh", ["-c", `${command} --fail`]);
    const { value, created } = (await aspectsOf(urn)).tagProperties;
    expect(value.name).toBe("it's soon");
    expect(created.actor).toBe("urn:li:corpuser:imke.sorland");
    await editor.fill("{");
    await page.getByRole("button", { name: "Copy as cURL" }).click();
    await page.getByText("The value of an aspect is a JSON object").waitFor();
    shown.expectNoErrors();
  });

  test("the editor of an aspect completes fields and symbols, and marks what does not fit", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(ACCESSION)}/aspects?aspect=ownership`);
    const editor = page.getByRole("textbox", { name: "Value of ownership" });
    const completion = (name: RegExp) => page.getByRole("option", { name });
    await editor.fill("");
    await editor.pressSequentially("{ own");
    await completion(/^owners/).waitFor();
    await shown.check();
    await page.keyboard.press("Enter");
    await editor.pressSequentially("{");
    await editor.pressSequentially(`"`);
    await completion(/^owner /).click();
    await page.keyboard.insertText("urn:li:corpuser:tomasz.wren");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.insertText(", ty");
    await page.keyboard.press("Control+Space");
    await completion(/^type /).click();
    await completion(/^TECHNICAL_OWNER/).click();
    expect(await editor.innerText()).toBe(
      `{ "owners": [{"owner": "urn:li:corpuser:tomasz.wren", "type": "TECHNICAL_OWNER"}]}`,
    );
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("ownership saved").waitFor();
    await editor.fill(
      [
        "{",
        `"owners": [{`,
        `"owner": "tomasz",`,
        `"role": 1`,
        "}],",
        `"lastModified": 1`,
        "}",
      ].join("\n"),
    );
    const marks = page.locator(".cm-lint-marker");
    await expect.poll(() => marks.count()).toBe(4);
    const messages = await page.evaluate<readonly string[]>(`[...document.querySelectorAll(
      ".cm-lintRange")].map((one) => one.textContent)`);
    expect(messages).toEqual([`{`, `"tomasz"`, `"role"`, "1"]);
    shown.expectNoErrors();
  });
});
