/** Urns of OpenLineage's datasets and jobs. */
import { expect, test } from "vitest";
import { createUrns, platformName } from "../../src/openlineage/names.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

test.each([
  ["postgres://host:5432", "db.schema.table", "postgres", "db.schema.table"],
  ["sqlserver://host:1433", "db.schema.table", "mssql", "db.schema.table"],
  ["awsathena://athena.eu.amazonaws.com", "cat.db.t", "athena", "cat.db.t"],
  ["bigquery", "project.data.table", "bigquery", "project.data.table"],
  ["s3://bucket", "/orders/day/", "s3", "bucket/orders/day"],
  ["s3a://bucket", "orders", "s3", "bucket/orders"],
  ["s3://bucket", "/", "s3", "bucket"],
  ["gs://bucket", "orders", "gcs", "bucket/orders"],
  ["abfss://c@a.dfs.core.windows.net", "/x", "abs", "c@a.dfs.core.windows.net/x"],
  ["hdfs://namenode:8020", "/warehouse/t/", "hdfs", "/warehouse/t"],
  ["file", "/tmp/t", "file", "/tmp/t"],
  ["file://host", "/tmp/t", "file", "host/tmp/t"],
  ["arn:aws:glue:eu:1", "table/db/t", "glue", "db.t"],
  ["kafka://host:9092", "topic", "kafka", "topic"],
])("%s %s is a dataset of %s", (namespace, name, platform, expected) => {
  expect(platformName({ namespace, name })).toEqual({ platform, name: expected });
});

test("slashes within a name take time in proportion to their number", () => {
  const slashes = "/".repeat(200_000);
  const began = cpuMilliseconds();
  const { name } = platformName({ namespace: `s3://b${slashes}c`, name: `${slashes}a${slashes}b` });
  expect(name).toHaveLength(400_005);
  // In the square of the number it is a minute.
  expect(cpuMilliseconds() - began).toBeLessThan(1000);
});

test("a table names its files", () => {
  const symlinks = (namespace: string, name: string) => ({
    symlinks: { identifiers: [{ namespace, name, type: "TABLE" }] },
  });
  const files = { namespace: "s3://bucket", name: "warehouse/t" };
  expect(platformName({ ...files, facets: symlinks("hive://m", "db.t") })).toEqual({
    platform: "hive",
    name: "db.t",
  });
  const glue = symlinks("arn:aws:glue:eu:1", "table/db/t");
  expect(platformName({ ...files, facets: glue })).toEqual({ platform: "glue", name: "db.t" });
});

test.each([
  ["https://github.com/OpenLineage/OpenLineage/tree/1.30.0/integration/spark", "spark"],
  ["https://github.com/OpenLineage/OpenLineage/blob/v1-0-0/client", "client"],
  ["https://github.com/apache/airflow/tree/providers-openlineage/2.1.0", "airflow"],
  ["https://github.com/trinodb/trino/plugin/trino-openlineage", "trino"],
  ["https://example.com/loader/v1.2.3", "loader"],
  ["https://example.com", "example.com"],
  ["urn:x", "x"],
])("the orchestrator of %s is %s", (producer, orchestrator) => {
  const flow = createUrns("li", producer).flow({ namespace: "shop", name: "nightly" });
  expect(flow).toBe(`urn:li:dataFlow:(${orchestrator},nightly,shop)`);
});

test("a urn encodes the separators of its parts", () => {
  const urns = createUrns("li", "https://example.com/loader");
  expect(urns.job({ namespace: "a,b", name: "f(x).y" })).toBe(
    "urn:li:dataJob:(urn:li:dataFlow:(loader,f%28x%29,a%2Cb),f%28x%29.y)",
  );
  expect(urns.dataset({ namespace: "kafka://h", name: "a b,c" })).toBe(
    "urn:li:dataset:(urn:li:dataPlatform:kafka,a b%2Cc,PROD)",
  );
});
