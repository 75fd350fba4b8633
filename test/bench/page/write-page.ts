/** Runs the parts of the page of benchmarks, and writes it with its plot. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem } from "node:os";
import type { Figure } from "../figures.ts";
import { type Compared, type Run, renderCosts, renderPage, type Section } from "./render-page.ts";

const page = new URL("../../../docs/benchmarks.md", import.meta.url);
const plot = new URL("../../../docs/images/benchmarks.svg", import.meta.url);

type Part = Omit<Section, "figures"> & { readonly part: string };

const parts: readonly Part[] = [
  {
    part: "ingest",
    title: "Writes",
    method:
      "Durable proposals of about 500 bytes over HTTP, 64 connections (batches: 4). Each response follows the fsync of its record. Medians of three rounds that alternate with the echo. The CPU time is that of the service's threads for each proposed aspect.",
  },
  {
    part: "reads",
    title: "Reads",
    method:
      "20,000 entities of six aspects, 64 connections, medians of three rounds. The echo returns the text of an entity.",
  },
  {
    part: "waits",
    title: "Responses that users wait for",
    method:
      "A catalog of 100,000 datasets with 600,000 aspects. Durations are medians of five requests, of one client, after one that warms up; the first requests after a start are measured once.",
  },
  {
    part: "growth",
    title: "Size of the catalog",
    method:
      "Five records for each entity: key, properties, ownership, then changed properties and profiles. 16 connections request 20,000 different entities. The cost of a request is the CPU time of all threads of the service, until every view has applied the writes; a search beyond its time limit (2 s) counts for none. The files are those of a catalog that `annals rebuild` has built.\n\n![Cost of a request against the size of the catalog](images/benchmarks.svg)",
  },
];

const datahub = "DataHub";
const marquez = "Marquez";
const compared: readonly Compared[] = [
  { what: `${datahub}: searches`, theirs: "27 to 38 /s", figure: "search for a name: requests" },
  { what: `${datahub}: proposals`, theirs: "72 /s", figure: "proposals, existing entities" },
  { what: `${datahub}: reads`, theirs: "1,101 /s", figure: "entity reads, all aspects" },
  { what: `${datahub}: restored rows`, theirs: "145 /s", figure: "records rebuilt into all views" },
  { what: `${marquez}: writes`, theirs: "40 /s", figure: "proposals, new entities (5 aspects)" },
  { what: `${marquez}: reads`, theirs: "114 /s", figure: "entity reads, all aspects" },
];

/** `measure` runs a part and returns its figures. */
export async function writeBenchmarks(
  measure: (part: string) => Promise<readonly Figure[]>,
): Promise<void> {
  const begun = performance.now();
  const before = describeRun();
  const sections: Section[] = [];
  for (const { part, ...section } of parts) {
    sections.push({ ...section, figures: await measure(part) });
  }
  const run = { ...before, seconds: (performance.now() - begun) / 1_000 };
  writeFileSync(page, renderPage(run, sections, compared));
  const costs = renderCosts(sections.flatMap(({ figures }) => figures));
  if (costs === undefined) rmSync(plot, { force: true });
  else writeFileSync(plot, costs);
}

function describeRun(): Omit<Run, "seconds"> {
  const [cpu] = cpus();
  const system = /PRETTY_NAME="(.*)"/.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" });
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit.trim(),
    machine: [
      ["CPU", `${cpu?.model}, ${cpus().length} cores`],
      ["Memory", `${Math.round(totalmem() / 1024 ** 3)} GiB`],
      ["System", `${system}, Linux ${release()}, ${arch()}`],
      ["Node", process.versions.node],
      ["Load average before the run", (loadavg()[0] ?? 0).toFixed(2)],
    ],
  };
}
