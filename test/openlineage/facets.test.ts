/** Facets of OpenLineage: for each one the aspects that an event with it writes. */
import { expect, test } from "vitest";
import { createAcceptEvent } from "../../src/openlineage/accept-event.ts";
import { facetEvents, runEvent } from "./facet-events.ts";
import { memoryCatalog } from "./memory-catalog.ts";

const accept = createAcceptEvent("li");

/** Without the state and the raw event, which every event writes. */
async function writtenBy(event: object): Promise<ReadonlyMap<string, unknown>> {
  const catalog = memoryCatalog();
  await accept(event, catalog, {});
  const written = Object.entries(catalog.contents());
  return new Map(written.filter(([name]) => !/ openLineage(State|Event)/.test(name)));
}

test("each facet becomes an aspect, an event or a custom property", async () => {
  const plain = await writtenBy(runEvent());
  const golden: Record<string, object> = {
    "without facets": Object.fromEntries(plain),
  };
  for (const [name, event] of Object.entries(facetEvents)) {
    const written = await writtenBy(event);
    const own = [...written].filter(
      ([key, value]) => JSON.stringify(plain.get(key)) !== JSON.stringify(value),
    );
    golden[name] = Object.fromEntries(own);
    expect(Object.keys(golden[name] ?? {}), name).not.toEqual([]);
  }
  const text = `${JSON.stringify(golden, null, 2)}\n`;
  expect(text).not.toMatch(/t0psecret|hidden|:secret@/);
  await expect(text).toMatchFileSnapshot("facets.golden");
});

test("every facet of the specification has an event here", () => {
  const keys = new Set(Object.keys(facetEvents).map((name) => name.split(" ")[1]));
  // From the published schemas of OpenLineage, August 2026.
  const specified =
    `subset catalog columnLineage dataQualityAssertions dataQualityMetrics datasetType
    version dataSource documentation environmentVariables errorMessage executionParameters
    externalQuery extractionError hierarchy inputStatistics jobDependencies jobType
    lifecycleStateChange lineage nominalTime outputStatistics ownership parent processing_engine
    schema sourceCode sourceCodeLocation sql storage symlinks tags test`.split(/\s+/);
  expect(specified.filter((key) => !keys.has(key))).toEqual([]);
});
