/** Makes the screenshots of the sample in docs/images: `npm run screenshots`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { ingestSample, startChromium } from "../support/chromium.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const images = fileURLToPath(new URL("../../docs/images", import.meta.url));

const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
const accession = "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)";

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly theme?: "light" | "dark";
  /** Brings the page into the state that the picture shows. */
  readonly act?: (page: Page) => Promise<void>;
}

const entityPath = (urn: string, tab = ""): string => `/ui/entity/${encoded(urn)}${tab}`;

const pictures: readonly Picture[] = [
  { name: "home", path: "/", act: (page) => page.getByText("Live", { exact: true }).waitFor() },
  {
    name: "search",
    path: "/ui/search?q=seed",
    act: async (page) => {
      await page.getByRole("link", { name: "germination_test" }).waitFor();
      await page.getByRole("group", { name: "Tag" }).getByText(/\d/).first().waitFor();
    },
  },
  { name: "columns", path: entityPath(accession, "/columns"), theme: "dark" },
  { name: "history", path: entityPath(forecast, "/history") },
  {
    name: "lineage",
    path: entityPath(forecast, "/lineage"),
    theme: "dark",
    act: async (page) => {
      await page.locator(".react-flow__node").first().waitFor();
      // The graph moves to its nodes for a while.
      await page.waitForTimeout(1_500);
    },
  },
  { name: "runs", path: "/ui/runs?run=nightly" },
];

/** Changes by people, so that the history shows more than the ingestion. */
async function writeChanges({ client }: RunningService): Promise<void> {
  const write = async (actor: string, urn: string, aspect: string, value: object) => {
    const proposal = {
      entityType: "dataset",
      entityUrn: urn,
      changeType: "UPSERT",
      aspectName: aspect,
      aspect: { contentType: "application/json", value: JSON.stringify(value) },
    };
    const headers = { "x-service-actor": `urn:li:corpuser:${actor}` };
    await client.call("POST", "/aspects?action=ingestProposal", { proposal }, headers);
  };
  const owner = (name: string, type: string) => ({ owner: `urn:li:corpuser:${name}`, type });
  const ownership = (...owners: readonly object[]) => ({
    owners,
    lastModified: { time: Date.now(), actor: "urn:li:corpuser:imke.sorland" },
  });
  const steward = owner("adaeze.obi", "DATA_STEWARD");
  const imke = owner("imke.sorland", "BUSINESS_OWNER");
  await write("imke.sorland", forecast, "ownership", ownership(steward));
  await write("imke.sorland", forecast, "ownership", ownership(steward, imke));
  await write("adaeze.obi", forecast, "editableDatasetProperties", {
    description:
      "The share of seeds of each accession that will germinate, for the next ten years.",
  });
  await write("adaeze.obi", accession, "editableDatasetProperties", {
    description: "Every sample in the cold store, one row each.",
  });
}

await using service = await runningService({ builtInEntities: "on" });
await ingestSample(service, ["--run-id", "nightly"]);
await writeChanges(service);
const browser = await startChromium();
mkdirSync(images, { recursive: true });
for (const { name, path, theme = "light", act } of pictures) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 760 },
    colorScheme: theme,
  });
  await page.addInitScript(`localStorage.setItem("annals.actor", "urn:li:corpuser:imke.sorland")`);
  await page.goto(`${service.address}${path}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await act?.(page);
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle").catch(() => undefined);
  await page.screenshot({ path: join(images, `${name}.png`), animations: "disabled" });
  await page.close();
  console.log(`docs/images/${name}.png`);
}
await browser.close();
