/** The page of an entity in the browser application: every tab, at two widths, and a change of an owner. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  browserPath,
  inBrowser,
  type OpenBrowser,
  openBrowser,
  type WatchedPage,
  writeSample,
} from "../support/browser.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const FORECAST = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("the page of an entity"), () => {
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

  const open = async (width: number) => {
    const shown = await browser.page({ width });
    await shown.page.goto(`${service.address}/ui/entity/${encoded(FORECAST)}`);
    await shown.page.getByRole("heading", { level: 1, name: "forecast" }).waitFor();
    return shown;
  };

  /** Checks the graph of lineage as it is drawn first, and zoomed out: small cards have no small buttons. */
  async function checkZooms({ page, check }: WatchedPage): Promise<void> {
    const viewport = page.locator(".react-flow__viewport");
    const style = () => viewport.getAttribute("style");
    await expect.poll(style).not.toContain("translate(0px, 0px) scale(1)");
    for (let n = 0; n < 6; n++) {
      await check();
      await page.getByRole("button", { name: "Zoom Out" }).click();
    }
  }

  test.each([1280, 390])("every tab is accessible, at a width of %i", async (width) => {
    await using shown = await open(width);
    const { page } = shown;
    const tabs = page.getByRole("navigation", { name: "Parts of the entity" }).getByRole("link");
    await tabs.first().waitFor();
    expect(await tabs.count()).toBeGreaterThan(5);
    for (let n = 0; n < (await tabs.count()); n++) {
      const tab = tabs.nth(n);
      await tab.click();
      await page.locator(`nav.tabs a[aria-current="page"] >> nth=0`).waitFor();
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      if ((await tab.textContent()) === "Lineage") await checkZooms(shown);
      await shown.check();
    }
  });

  test("each kind of entity has a page", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    const { body } = await service.client.call("POST", "/entities?action=searchAcrossEntities", {
      ...{ input: "*", start: 0, count: 100 },
    });
    const urns: string[] = body.value.entities.map((hit: string | { entity: string }) =>
      typeof hit === "string" ? hit : hit.entity,
    );
    const kinds = new Map(urns.map((urn) => [urn.split(":")[2], urn]));
    expect(kinds.size).toBeGreaterThan(6);
    for (const urn of kinds.values()) {
      await page.goto(`${service.address}/ui/entity/${encoded(urn)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    shown.expectNoErrors();
  });

  test("each entity type of the model has a page", async () => {
    await using shown = await browser.page({ mayFail: /status of 404/ });
    const { page } = shown;
    const path = "/openapi/v1/registry/models/entity/specifications?count=200";
    const { body } = await service.client.get(path);
    const types: string[] = body.elements.map(({ name }: { name: string }) => name);
    expect(types.length).toBeGreaterThan(60);
    const keys = [
      "x",
      "(x,y)",
      "(urn:li:dataPlatform:hive,x)",
      "(urn:li:dataPlatform:hive,x,PROD)",
    ];
    const moreKeys = [`(${FORECAST},x)`, "(urn:li:dataFlow:(airflow,f,PROD),x)", FORECAST];
    for (const type of types) {
      const urns = [...keys, ...moreKeys].map((key) => `urn:li:${type}:${key}`);
      const replies = await Promise.all(
        urns.map((urn) => service.client.get(`/entitiesV2/${encoded(urn)}`)),
      );
      const urn = urns.find((_, n) => replies[n]?.status === 200);
      expect(urn, type).toBeDefined();
      await page.goto(`${service.address}/ui/entity/${encoded(urn ?? "")}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("nav.tabs").getByRole("link", { name: "Relationships" }).waitFor();
    }
    shown.expectNoErrors();
  });

  test("the page of a missing entity says that it does not exist, and offers no edits", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded("urn:li:tag:Nonexistent")}`);
    await page.getByText("This entity does not exist").waitFor();
    const edits = page.getByRole("main").getByRole("button", { name: /^(Add|Remove|Edit)/ });
    expect(await edits.count()).toBe(0);
    expect(await page.getByLabel("Actions").count()).toBe(0);
    await shown.check();
  });

  test("a document shows its text, and an edit changes it", async () => {
    const urn = "urn:li:document:cold-store";
    const stamp = { time: 1, actor: "urn:li:corpuser:tomasz.wren" };
    await service.client.upsert(urn, "documentInfo", {
      ...{ title: "Cold store", contents: { text: "Close the doors" } },
      ...{ status: { state: "PUBLISHED" }, created: stamp, lastModified: stamp },
    });
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(urn)}`);
    await page.getByText("Close the doors").waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Description, in Markdown").fill("Close **both** doors");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".markdown strong", { hasText: "both" }).waitFor();
    await shown.check();
  });

  test("the lineage graph shows columns on demand, and the path to another entity", async () => {
    const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,shop.${name},PROD)`;
    const column = (name: string, path: string) => `urn:li:schemaField:(${dataset(name)},${path})`;
    for (const [source, target] of [
      ["raw", "staging"],
      ["staging", "mart"],
      ["mart", "report"],
      ["report", "letter"],
    ] as const) {
      const { status } = await service.client.upsert(dataset(target), "upstreamLineage", {
        upstreams: [{ dataset: dataset(source), type: "TRANSFORMED" }],
        fineGrainedLineages: [
          {
            upstreamType: "FIELD_SET",
            upstreams: [column(source, `${source}_id`)],
            downstreamType: "FIELD",
            downstreams: [column(target, `${target}_id`)],
          },
        ],
      });
      expect(status).toBe(200);
    }
    await service.client.upsert(dataset("raw"), "datasetProperties", { name: "shop.raw" });
    await using shown = await browser.page({ width: 1440 });
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(dataset("mart"))}/lineage`);
    await page.getByRole("button", { name: "Columns of shop.mart" }).click();
    await page.getByRole("button", { name: "mart_id" }).click();
    await page.getByText("Column mart_id of shop.mart").waitFor();
    await page.getByRole("button", { name: "Show path to…" }).click();
    await page.getByRole("combobox", { name: "Find the other entity" }).fill("shop.raw");
    await page.getByRole("option", { name: "shop.raw" }).click();
    await page.getByText("2 hops from shop.raw to shop.mart").waitFor();
    await page.getByRole("button", { name: "Columns of shop.raw" }).waitFor();
    expect(await page.locator(".on-path").count()).toBe(2);
    await shown.check();
    // The cards of a graph that has become wide keep their buttons.
    const usesOf = (name: string) =>
      page.getByRole("button", { name: `Load uses of shop.${name}` }).first();
    await usesOf("mart").click();
    // A card may move to its new place between the press and the release of a click, which is lost then.
    const loaded = async () => {
      if (await usesOf("letter").isVisible()) return true;
      await usesOf("report").click();
      return false;
    };
    await expect.poll(loaded, { interval: 1_000 }).toBe(true);
    await usesOf("letter").click();
    await page.getByText("No other uses").first().waitFor();
    shown.expectNoErrors();
  });

  test("the lineage of more hops is visible as a whole", async () => {
    await using shown = await open(1280);
    const { page } = shown;
    await page.getByRole("link", { name: "Lineage" }).click();
    await page.getByText("6 entities").waitFor();
    await page.getByLabel("Hops").selectOption("5");
    await page.getByText("7 entities").waitFor();
    await expect
      .poll(() =>
        page.evaluate<number>(`(() => {
          const canvas = document.querySelector(".lineage").getBoundingClientRect();
          return [...document.querySelectorAll(".react-flow__node")]
            .map((node) => node.getBoundingClientRect())
            .filter(({ left, right }) => left >= canvas.left && right <= canvas.right).length;
        })()`),
      )
      .toBe(7);
    await shown.check();
  });

  test("everything that depends on an entity is exported as CSV and as JSON", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";
    await page.goto(`${service.address}/ui/entity/${encoded(accession)}/lineage`);
    await page.getByRole("button", { name: "Impact list" }).click();
    await page.getByRole("link", { name: "Viability by drawer" }).waitFor();
    const exported = async (format: string) => {
      const arrives = page.waitForEvent("download");
      await page.getByRole("button", { name: format }).click();
      return readFileSync(await (await arrives).path(), "utf8");
    };
    const row = { urn: FORECAST, type: "dataset", name: "forecast", hops: 1 };
    expect(JSON.parse(await exported("JSON"))).toContainEqual(row);
    expect(await exported("CSV")).toContain(`"${FORECAST}",dataset,forecast,1`);
    await shown.check();
  });

  test("an edge names the aspect and path that state it, and links to them", async () => {
    await using shown = await open(1280);
    const { page } = shown;
    await page.getByRole("link", { name: "Relationships" }).click();
    await page.getByRole("link", { name: "ownership/owners/1/owner" }).click();
    await page.getByRole("heading", { name: "ownership" }).waitFor();
    await page.locator(".cm-activeLine", { hasText: "adaeze.obi" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "To this entity" }).click();
    await page.getByRole("link", { name: "dataJobInputOutput/outputDatasets/0" }).waitFor();
    shown.expectNoErrors();
  });

  test("assertions show their runs, and incidents their state", async () => {
    const write = async (urn: string, aspect: string, value: object) => {
      const { status, body } = await service.client.upsert(urn, aspect, value);
      expect(status, JSON.stringify(body)).toBe(200);
    };
    const assertion = "urn:li:assertion:rows";
    const stamp = { time: 1, actor: "urn:li:corpuser:tomasz.wren" };
    await write(assertion, "assertionInfo", {
      type: "CUSTOM",
      description: "More than 1,000 rows",
      customAssertion: { type: "Volume", entity: FORECAST },
    });
    for (const [n, type] of ["SUCCESS", "FAILURE"].entries()) {
      await write(assertion, "assertionRunEvent", {
        ...{ timestampMillis: n + 1, runId: `run-${n}`, status: "COMPLETE", result: { type } },
        ...{ asserteeUrn: FORECAST, assertionUrn: assertion },
      });
    }
    await write(FORECAST, "operation", {
      ...{ timestampMillis: 3, operationType: "INSERT", lastUpdatedTimestamp: 1_700_000_000_000 },
    });
    await write("urn:li:incident:late", "incidentInfo", {
      ...{ type: "FRESHNESS", title: "Not updated", entities: [FORECAST], created: stamp },
      status: { state: "ACTIVE", lastUpdated: stamp },
    });
    await using shown = await open(390);
    const { page } = shown;
    await page.getByRole("link", { name: "Usage and quality" }).click();
    await page.getByRole("link", { name: "Not updated" }).waitFor();
    await page.getByText("1 value", { exact: true }).first().click();
    await page.getByRole("region", { name: "Field profiles" }).waitFor();
    await page.getByRole("img", { name: "Last 2 runs: 1 passed, 1 failed" }).waitFor();
    await page.getByText("Failing").waitFor();
    await page.locator('time[datetime^="2023-11-14"]').first().waitFor();
    await page.getByRole("button", { name: "More than 1,000 rows" }).click();
    await page.getByRole("cell", { name: "run-0" }).waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Resolve" }).click();
    await page.getByRole("button", { name: "Reopen" }).waitFor();
  });

  test("a structured property is set, changed and removed as its definition allows", async () => {
    const { status } = await service.client.upsert(
      "urn:li:structuredProperty:class",
      "propertyDefinition",
      {
        qualifiedName: "class",
        displayName: "Class",
        valueType: "urn:li:dataType:datahub.string",
        cardinality: "MULTIPLE",
        entityTypes: ["urn:li:entityType:datahub.dataset"],
        allowedValues: ["public", "secret"].map((string) => ({ value: { string } })),
      },
    );
    expect(status).toBe(200);
    await using shown = await open(1280);
    const { page } = shown;
    const choose = async (value: string) => {
      await page.getByRole("checkbox", { name: value }).click();
      await page.getByRole("button", { name: "Save" }).click();
    };
    await page.getByLabel("Add a structured property").selectOption("Class");
    await shown.check();
    await choose("secret");
    await page.getByRole("listitem").filter({ hasText: "secret" }).waitFor();
    await page.getByRole("button", { name: "Edit Class" }).click();
    await choose("public");
    await page.getByRole("listitem").filter({ hasText: "public" }).waitFor();
    await page.locator(".entity-header").getByText("secret, public").waitFor();
    // The page shows a write before the service has it.
    const stored = async () => {
      const { body } = await service.client.get(`/entitiesV2/${encoded(FORECAST)}`);
      return body.aspects.structuredProperties.value.properties[0].values;
    };
    await expect.poll(stored).toEqual([{ string: "secret" }, { string: "public" }]);
    await page.getByRole("button", { name: "Edit Class" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("No values yet").waitFor();
    shown.expectNoErrors();
  });

  test("a write is shown at once, and taken back when the service rejects it", async () => {
    await using shown = await browser.page({ mayFail: /status of 500/ });
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(FORECAST)}`);
    const remove = page.getByRole("button", { name: "Remove RegrowSoon" });
    await remove.waitFor();
    const answer = Promise.withResolvers<void>();
    await page.route("**/api/graphql", async (route) => {
      await answer.promise;
      await route.fulfill({ status: 500, json: { message: "not today" } });
    });
    await remove.click();
    await remove.waitFor({ state: "detached" });
    answer.resolve();
    await page.getByText("not today").waitFor();
    await remove.waitFor();
    shown.expectNoErrors();
  });

  test("a chart leaves room for the labels of large numbers", async () => {
    const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.large,PROD)";
    for (const [timestampMillis, rowCount] of [
      [1_700_000_000_000, 0],
      [1_700_100_000_000, 12_000_000_000],
    ]) {
      const profile = { timestampMillis, rowCount };
      const { status } = await service.client.upsert(dataset, "datasetProfile", profile);
      expect(status).toBe(200);
    }
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(dataset)}/quality`);
    const chart = page.getByRole("img", { name: "Chart of Row count" });
    const whole = await chart.boundingBox();
    // The labels are drawn to the left of the lines.
    const lines = await chart.locator(".u-over").boundingBox();
    expect((lines?.x ?? 0) - (whole?.x ?? 0)).toBeGreaterThan(100);
    await shown.check();
  });

  test("the past marks what differs from now", async () => {
    const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.aged,PROD)";
    const describe = async (description: string) => {
      const value = { name: "shop.aged", description };
      const { headers } = await service.client.upsert(dataset, "datasetProperties", value);
      return headers.get("x-annals-position");
    };
    const position = await describe("The first text");
    await describe("The second text");
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(dataset)}?asOf=${position}`);
    await page.getByText("The first text").waitFor();
    await page.getByText("differs from now").waitFor();
    await page.getByText(/Changed since/).waitFor();
    await shown.check();
    await page.getByRole("link", { name: /^Aspects/ }).click();
    await page.getByRole("button", { name: "datasetProperties differs from now" }).waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByText("differs from now").waitFor({ state: "detached" });
    shown.expectNoErrors();
  });

  test("members are added to a group and removed from it", async () => {
    const group = "urn:li:corpGroup:seed-bank";
    const info = { displayName: "Seed bank", admins: [], members: [], groups: [] };
    expect((await service.client.upsert(group, "corpGroupInfo", info)).status).toBe(200);
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/ui/entity/${encoded(group)}`);
    await page.getByText("No members").waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("combobox", { name: "Find a user" }).fill("tomasz");
    await page.getByRole("option", { name: "Tomasz Wren" }).click();
    await page.getByRole("link", { name: "Tomasz Wren" }).click();
    await page.getByRole("heading", { level: 1, name: "Tomasz Wren" }).waitFor();
    await page.getByRole("link", { name: "Seed bank" }).waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Remove Seed bank" }).click();
    await page.getByText("No groups").waitFor();
    shown.expectNoErrors();
  });
});
