/** Paths that end with an unencoded urn, and trace ids that contain the position of a write. */
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { createEntityPaths } from "../../src/http/request/entity-paths.ts";
import { positionOfTrace, traceParent } from "../../src/http/schemas/trace-id.ts";
import { testConfig } from "./test-server.ts";

const V3 = "/openapi/v3/entity/dataset";
const s3 = "urn:li:dataset:(urn:li:dataPlatform:s3,a/b,PROD)";
const oneSegment = s3.replace("/", "%2F");

describe("a urn in a path", () => {
  const pathOf = createEntityPaths(testConfig.entities);

  test.each([
    [`${V3}/${s3}`, `${V3}/${oneSegment}`],
    [`${V3}/${s3}/ownership`, `${V3}/${oneSegment}/ownership`],
    [`${V3}/${s3}/OwnerShip`, `${V3}/${oneSegment}/OwnerShip`],
    // Only an aspect can follow a bracket, also an unknown one.
    [`${V3}/${s3}/nonsense`, `${V3}/${oneSegment}/nonsense`],
    [`${V3}/${encodeURIComponent(s3)}/ownership`, `${V3}/${encodeURIComponent(s3)}/ownership`],
    ["/openapi/v3/entity/tag/urn:li:tag:a/b", "/openapi/v3/entity/tag/urn:li:tag:a%2Fb"],
    [
      "/openapi/v3/entity/tag/urn:li:tag:a/b/tagKey",
      "/openapi/v3/entity/tag/urn:li:tag:a%2Fb/tagKey",
    ],
    [
      "/openapi/v2/relationship/dataset/urn:li:tag:a/b",
      "/openapi/v2/relationship/dataset/urn:li:tag:a%2Fb",
    ],
  ])("%s becomes one segment", (path, expected) => {
    expect(pathOf(path)).toBe(expected);
  });

  test.each([
    V3,
    `${V3}/batchGet`,
    "/openapi/v3/entity/generic/batchGet",
    "/entities/urn:li:tag:a/b",
    "/",
    "",
  ])("%s is unchanged", (path) => {
    expect(pathOf(path)).toBe(path);
  });
});

describe("a trace id", () => {
  const now = 1_772_409_600_123;
  const idOf = (at: number) => traceParent(position(at), now).split("-")[1] ?? "";

  test("contains the time in microseconds, and the position of the write", () => {
    expect(traceParent(position(126), now)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(Number.parseInt(idOf(126).slice(0, 16), 16)).toBe(now * 1_000);
    for (const at of [0, 126, 2 ** 40]) expect(positionOfTrace(idOf(at))).toBe(at);
    expect(positionOfTrace(idOf(126).toUpperCase())).toBe(126);
  });

  test("of another format has no position", () => {
    const others = [
      "",
      "x",
      "0".repeat(32),
      "f".repeat(32),
      idOf(126).replace(/.$/, "0"),
      `${idOf(1)}0`,
    ];
    expect(others.map(positionOfTrace)).toEqual(others.map(() => undefined));
  });
});
