/** Default aspects by entity type. */
import { describe, expect, test } from "vitest";
import { defaultAspects } from "../../src/core/rules/default-aspects.ts";

const ALL = ["status", "browsePaths", "browsePathsV2", "dataPlatformInstance"];
const DEFAULT = { path: [{ id: "Default" }] };

const of = (name: string, key: Record<string, unknown>, aspects = ALL, delimiter?: string) =>
  defaultAspects({ name, aspects }, key, { namespace: "li", delimiterOf: () => delimiter });

const hive = "urn:li:dataPlatform:hive";

describe("a dataset", () => {
  test("a dataset is in the folders of its name, under its origin and platform", () => {
    const key = {
      platform: "urn:li:dataPlatform:Hive",
      name: "Farm.Public.harvests",
      origin: "PROD",
    };
    expect(of("dataset", key)).toEqual({
      browsePaths: { paths: ["/prod/hive/farm/public"] },
      browsePathsV2: { path: [{ id: "Farm" }, { id: "Public" }] },
      dataPlatformInstance: { platform: "urn:li:dataPlatform:Hive" },
    });
  });

  test("a dataset without folders in its name is in the folder of its platform", () => {
    expect(of("dataset", { platform: hive, name: "harvests", origin: "DEV" })).toEqual({
      browsePaths: { paths: ["/dev/hive"] },
      browsePathsV2: DEFAULT,
      dataPlatformInstance: { platform: hive },
    });
  });

  test("a dataset name is split at the delimiter of its platform", () => {
    const key = { platform: "urn:li:dataPlatform:s3", name: "/lake/raw/v1.2", origin: "PROD" };
    expect(of("dataset", key, ALL, "/")).toMatchObject({
      browsePaths: { paths: ["/prod/s3/lake/raw"] },
      browsePathsV2: { path: [{ id: "lake" }, { id: "raw" }] },
    });
  });
});

test.each([
  ["chart", { dashboardTool: "Looker", chartId: "1" }, "/Looker", DEFAULT, "looker"],
  ["dashboard", { dashboardTool: "Looker", dashboardId: "1" }, "/looker", DEFAULT, "looker"],
  [
    "dataFlow",
    { orchestrator: "Airflow", flowId: "f", cluster: "PROD" },
    "/airflow/prod",
    DEFAULT,
    "airflow",
  ],
])("a %s is in the folder of its tool", (name, key, folder, path, platform) => {
  expect(of(name, key)).toEqual({
    browsePaths: { paths: [folder] },
    browsePathsV2: path,
    dataPlatformInstance: { platform: `urn:li:dataPlatform:${platform}` },
  });
});

test("a dataJob is in the folder of its flow", () => {
  const flow = "urn:li:dataFlow:(Airflow,etl(a,b),Prod)";
  expect(of("dataJob", { flow, jobId: "load" })).toEqual({
    browsePaths: { paths: ["/airflow/prod"] },
    browsePathsV2: { path: [{ id: flow, urn: flow }] },
    dataPlatformInstance: { platform: "urn:li:dataPlatform:airflow" },
  });
});

test.each(["mlModel", "mlModelGroup", "mlModelDeployment", "mlFeatureTable"])(
  "a %s has the platform of its key and no folder",
  (name) => {
    expect(of(name, { platform: hive, name: "a.b", origin: "PROD" })).toEqual({
      browsePathsV2: DEFAULT,
      dataPlatformInstance: { platform: hive },
    });
  },
);

test.each([
  ["container", { guid: "1" }],
  ["notebook", { notebookTool: "querybook", notebookId: "1" }],
  ["glossaryTerm", { name: "a.b" }],
])("a %s has no folder and no platform", (name, key) => {
  expect(of(name, key)).toEqual({ browsePathsV2: DEFAULT });
});

test("only default aspects that the entity type has are added", () => {
  const key = { platform: hive, name: "a.b", origin: "PROD" };
  expect(of("dataset", key, ["status"])).toEqual({});
  expect(of("dataset", key, ["browsePaths"])).toEqual({ browsePaths: { paths: ["/prod/hive/a"] } });
  expect(of("glossaryTerm", { name: "a" }, ["browsePaths"])).toEqual({});
});

test("urns in default aspects have the configured namespace", () => {
  expect(
    defaultAspects(
      { name: "chart", aspects: ["dataPlatformInstance"] },
      { dashboardTool: "Looker", chartId: "1" },
      { namespace: "acme" },
    ),
  ).toEqual({ dataPlatformInstance: { platform: "urn:acme:dataPlatform:looker" } });
});

test("an incomplete key yields fewer default aspects and no error", () => {
  expect(of("dataset", {})).toEqual({ browsePathsV2: DEFAULT });
  expect(of("dataJob", { flow: "urn:li:dataFlow:x", jobId: "j" })).toEqual({
    browsePathsV2: { path: [{ id: "urn:li:dataFlow:x", urn: "urn:li:dataFlow:x" }] },
  });
  expect(of("chart", { dashboardTool: "", chartId: "1" })).toEqual({ browsePathsV2: DEFAULT });
});
