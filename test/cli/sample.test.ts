/** The sample of the README's tour: the catalog of a seed library in one file. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { toSubmission } from "../../src/cli/client/submission.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { runningService } from "../support/running-service.ts";
import { start } from "./run-program.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const file = pathOf("../data/sample/catalog.json");
const text = readFileSync(file, "utf8");
const records: readonly unknown[] = JSON.parse(text);
const model = loadModel();

interface Aspect {
  readonly urn: string;
  /** Name of an aspect, or of its record. */
  readonly aspect: string;
  readonly value: unknown;
}

/** Every aspect that a record writes. */
function aspectsIn(record: unknown): readonly Aspect[] {
  const submission = toSubmission(JSON.stringify(record), () => "sample");
  if ("fault" in submission) throw new Error(submission.fault);
  const { urn } = submission;
  const body = JSON.parse(submission.body);
  if (submission.kind === "proposal") {
    return [{ urn, aspect: body.aspectName, value: JSON.parse(body.aspect.value) }];
  }
  const [snapshot] = Object.values<{ aspects: Record<string, unknown>[] }>(body.value);
  return (snapshot?.aspects ?? []).flatMap((aspect) =>
    Object.entries(aspect).map(([name, value]) => ({ urn, aspect: name, value })),
  );
}

const sampleAspects = records.flatMap(aspectsIn);

const typeOf = (urn: string): string => urn.split(":")[2] ?? "";

describe("the sample", () => {
  test("the sample is a small catalog with entities of many types", () => {
    const types = new Set(sampleAspects.map(({ urn }) => typeOf(urn)));
    expect([...types]).toEqual(
      expect.arrayContaining([
        "corpuser",
        "corpGroup",
        "tag",
        "glossaryNode",
        "glossaryTerm",
        "dataset",
        "chart",
        "dashboard",
        "domain",
        "dataFlow",
        "dataJob",
      ]),
    );
    expect(records.length).toBeGreaterThanOrEqual(25);
    expect(records.length).toBeLessThanOrEqual(40);
  });

  test("the sample matches the model", () => {
    for (const { urn, aspect: name, value } of sampleAspects) {
      const entity = model.findEntity(typeOf(urn));
      const aspect = model.findAspectByRecord(name) ?? model.aspects.get(name);
      if (entity === undefined || aspect === undefined)
        throw new Error(`${urn}: ${name} is unknown`);
      expect(model.findAspectOf(entity, aspect.name), `${urn}: ${name}`).toBeDefined();
      const checked = model.check(aspect, structuredClone(value));
      expect(checked, `${urn}: ${name}`).toMatchObject({ ok: true, value });
    }
  });

  test("the sample refers only to entities that it contains", () => {
    const urns = new Set(sampleAspects.map(({ urn }) => urn));
    const named = new Set(text.match(/urn:li:\w+:(\([^)]*\)[^)"]*\)|\([^)]*\)|[^"(),\s]+)(?=")/g));
    const absent = [...named].filter((urn) => typeOf(urn) !== "dataPlatform" && !urns.has(urn));
    expect(named.size).toBeGreaterThan(20);
    expect(absent).toEqual([]);
  });

  test("the pages show the log position of a new catalog with the sample", async () => {
    await using service = await runningService({ builtInEntities: "on" });
    const args = [pathOf("../../src/annals.mjs"), "ingest", file, "--server", service.address];
    const { stdout } = await start(process.execPath, args).ended;
    const [position = "nothing"] = /last log position \d+/.exec(stdout) ?? [];
    for (const page of ["README.md", "docs/command-line.md"]) {
      expect(readFileSync(pathOf(`../../${page}`), "utf8")).toContain(`${position},`);
    }
  });
});
