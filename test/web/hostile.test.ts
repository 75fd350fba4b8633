/** Hostile metadata is shown as text and runs nothing in the browser application. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, inBrowser, type OpenBrowser, openBrowser } from "../support/browser.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const script = `<script>alert("x")</script><img src=x onerror=alert(1)>`;
const markdown = `# Title ${script}

[a link](javascript:alert(1)) <a href="javascript:alert(1)">another</a>
<iframe srcdoc="<script>alert(1)</script>"></iframe> <svg onload=alert(1)></svg>
![image](http://127.0.0.1:1/track.png)

Kept text.`;

const names: Readonly<Record<string, string>> = {
  scripts: `named ${script}`,
  "a template": "named {{constructor.constructor('alert(1)')()}}",
  "right-to-left text": "named \u202etxet desrever\u202c שלום مرحبا",
  emoji: "named 👩‍🌾🌱🏳️‍🌈",
  "10,000 characters": `named ${"x".repeat(10_000)}`,
};

const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hostile,<b>${n}</b>,PROD)`;

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("hostile metadata"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  const write = async (urn: string, aspect: string, value: object) => {
    const { status, body } = await service.client.upsert(urn, aspect, value);
    expect(status, JSON.stringify(body)).toBe(200);
  };
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      runningService({ builtInEntities: "on" }),
      openBrowser(),
    ]);
    await write("urn:li:tag:hostile", "tagProperties", { name: script, description: markdown });
    await write("urn:li:corpuser:hostile", "corpUserInfo", { active: true, displayName: script });
    for (const [n, name] of Object.values(names).entries()) {
      const urn = dataset(n);
      await write(urn, "datasetProperties", {
        name,
        description: markdown,
        customProperties: { [script]: script },
      });
      await write(urn, "globalTags", { tags: [{ tag: "urn:li:tag:hostile" }] });
      await write(urn, "ownership", {
        owners: [{ owner: "urn:li:corpuser:hostile", type: "DATAOWNER" }],
        lastModified: { time: 1, actor: "urn:li:corpuser:hostile" },
      });
      await write(urn, "schemaMetadata", {
        schemaName: "hostile",
        platform: "urn:li:dataPlatform:hostile",
        version: 0,
        hash: "",
        platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: script } },
        fields: [
          {
            fieldPath: `column ${script}`,
            description: markdown,
            nativeDataType: script,
            type: { type: { "com.linkedin.schema.StringType": {} } },
          },
        ],
      });
    }
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test("a malformed urn does not hide the names of other entities", async () => {
    const user = "urn:li:corpuser:named";
    await write(user, "corpUserInfo", { active: true, displayName: "Imke Named" });
    await using shown = await browser.page({ mayFail: /status of 4\d\d/ });
    const { page } = shown;
    await page.addInitScript(`localStorage.setItem("annals.actor", "${user}")`);
    for (const urn of ["garbage", "urn:li:garbage:x", "urn:li:dataset:(x"]) {
      await page.goto(`${service.address}/ui/entity/${encoded(urn)}`);
      await page.getByRole("alert").waitFor();
      await page.getByRole("button", { name: "Acting as Imke Named" }).waitFor();
    }
    shown.expectNoErrors();
  });

  test("lineage, relationships, quality and properties show texts as text", async () => {
    const [subject, source] = [dataset(0), dataset(1)];
    const column = (urn: string) => `urn:li:schemaField:(${urn},${encodeURIComponent(script)})`;
    await write(subject, "upstreamLineage", {
      upstreams: [{ dataset: source, type: "TRANSFORMED" }],
      fineGrainedLineages: [
        {
          ...{ upstreamType: "FIELD_SET", upstreams: [column(source)] },
          ...{ downstreamType: "FIELD", downstreams: [column(subject)] },
        },
      ],
    });
    const info = { type: "CUSTOM", customAssertion: { type: script, entity: subject } };
    await write("urn:li:assertion:hostile", "assertionInfo", { ...info, description: script });
    const stamp = { time: 1, actor: "urn:li:corpuser:hostile" };
    await write("urn:li:incident:hostile", "incidentInfo", {
      ...{ type: "CUSTOM", customType: script, title: script, description: script },
      ...{ entities: [subject], created: stamp },
      status: { state: "ACTIVE", message: script, lastUpdated: stamp },
    });
    const property = "urn:li:structuredProperty:hostile";
    await write(property, "propertyDefinition", {
      ...{ qualifiedName: "hostile", displayName: script, description: script },
      valueType: "urn:li:dataType:datahub.rich_text",
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    });
    await write(subject, "structuredProperties", {
      properties: [{ propertyUrn: property, values: [{ string: markdown }] }],
    });
    await using shown = await browser.page({ width: 390 });
    const { page } = shown;
    const visit = (tab: string) =>
      page.goto(`${service.address}/ui/entity/${encoded(subject)}/${tab}`);
    await visit("lineage");
    await page
      .getByRole("button", { name: /^Columns of/ })
      .last()
      .click();
    await page
      .getByRole("list", { name: /^Columns of/ })
      .getByText("<script>")
      .first()
      .waitFor();
    await visit("relationships");
    await page.getByRole("link", { name: "ownership/owners/0/owner" }).waitFor();
    await visit("quality");
    await page.locator(".assessment").getByRole("link", { name: script }).first().waitFor();
    await page.locator(".assessment").getByRole("button", { name: script }).waitFor();
    await visit("documentation");
    await page.getByRole("button", { name: `Edit ${script}` }).click();
    await page.getByRole("dialog").getByRole("heading", { name: script }).waitFor();
    await expect.poll(() => hasScroll(page)).toBe(false);
    await shown.check();
  });

  describe.each([1280, 390])("at a width of %i", (width) => {
    test("search results and the home page show names as text", async () => {
      await using shown = await browser.page({ width });
      const { page } = shown;
      await page.goto(`${service.address}/ui/search?q=named`);
      await page.getByRole("link", { name: 'named <script>alert("x")</script>' }).waitFor();
      await expect.poll(() => hasScroll(page)).toBe(false);
      await shown.check();
      await page.goto(service.address);
      await page.getByRole("heading", { name: "Recent changes" }).waitFor();
      await page.getByRole("link", { name: /named/ }).first().waitFor();
      await expect.poll(() => hasScroll(page)).toBe(false);
      await shown.check();
    });

    test.each(Object.keys(names).entries().toArray())(
      "an entity page shows a name as text: %i, %s",
      async (n) => {
        await using shown = await browser.page({ width });
        const { page } = shown;
        await page.goto(`${service.address}/ui/entity/${encoded(dataset(n))}`);
        await page.getByRole("heading", { level: 1, name: /named/ }).waitFor();
        for (const tab of [/^Documentation/, /^Columns/, /^History/, /^Aspects/]) {
          await page.locator("nav.tabs").getByRole("link", { name: tab }).click();
          await page.locator("nav.tabs a[aria-current=page]", { hasText: tab }).waitFor();
          const loading = page.getByRole("status", { name: "Loading" });
          await loading.first().waitFor({ state: "detached" });
          const links = await page
            .locator("a[href^='javascript:' i], script:not([src]), iframe, [onerror], [onload]")
            .count();
          expect(links).toBe(0);
          await expect.poll(() => hasScroll(page)).toBe(false);
        }
        await shown.check();
      },
    );
  });
});

/** True for a page that scrolls sideways. */
const hasScroll = (page: { evaluate(script: string): Promise<unknown> }): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
