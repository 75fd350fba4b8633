import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTarget } from "../../src/http/request/target.ts";

const resources = new Set(["aspects", "entities", "entitiesV2"]);
const parse = (target: string) => parseTarget(target, resources);

describe("parseTarget", () => {
  test("splits resource, key and query", () => {
    expect(parse("/entitiesV2/urn:li:tag:a%2Fb?aspects=List(status)")).toEqual({
      path: "/entitiesV2/urn:li:tag:a%2Fb",
      resource: "entitiesV2",
      rawKey: "urn:li:tag:a%2Fb",
      rawQuery: "aspects=List(status)",
      action: undefined,
    });
  });

  test.each([
    ["/entities/a/b/c", "a/b/c"],
    ["/entities/a#b", "a#b"],
    ["/entities/a//b/", "a//b/"],
    ["/entities//a", "/a"],
    ["/entities/%2F?x", "%2F"],
    [
      "/entities/urn:li:dataset:(urn:li:dataPlatform:s3,a/b/c.csv,PROD)",
      "urn:li:dataset:(urn:li:dataPlatform:s3,a/b/c.csv,PROD)",
    ],
    [
      "/entities/urn:li:dataset:(urn:li:dataPlatform:s3,a/b,PROD)//?x",
      "urn:li:dataset:(urn:li:dataPlatform:s3,a/b,PROD)",
    ],
    ["/entities/urn%3Ali%3Achart%3A%28looker%2Ca/b%29/", "urn%3Ali%3Achart%3A%28looker%2Ca/b%29"],
    ["/entities/urn:li:tag:a(b)/", "urn:li:tag:a(b)/"],
    ["/entities/a?b?c", "a"],
    ["/entities/[x]{y}|z", "[x]{y}|z"],
    ["/entities/..", ".."],
    ["/entities/%2e%2e/%2e%2e", "%2e%2e/%2e%2e"],
    ["/entities/", undefined],
    ["/entities//", undefined],
    ["/entities///?action=x", undefined],
    ["/entities", undefined],
    ["/entities?x=/y", undefined],
  ])("the key of %s is %s", (target, key) => {
    expect(parse(target)).toMatchObject({ resource: "entities", rawKey: key });
  });

  test.each([
    "/gms",
    "/api/gms",
    "//gms",
    "/gms/",
    "http://h:8080",
    "https://h/gms",
    "HTTP://h/api/gms",
  ])("the prefix %s is ignored", (prefix) => {
    expect(parse(`${prefix}/entities/a/b?x=y`)).toEqual(parse("/entities/a/b?x=y"));
    expect(parse(`${prefix}/config`)).toEqual(parse("/config"));
    expect(parse(`${prefix}/aspects/?action=x`)).toEqual(parse("/aspects?action=x"));
    expect(parse(`${prefix}/aspects//?action=x`)).toEqual(parse("/aspects?action=x"));
  });

  test.each([
    ["/", "/"],
    ["", "/"],
    ["/gms", "/"],
    ["/api/gms/", "/"],
    ["/gms?x", "/"],
    ["/config/", "/config"],
    ["/restli/docs//", "/restli/docs"],
    ["//config", "/config"],
    ["/gmsx", "/gmsx"],
    ["/api/graphql", "/api/graphql"],
    ["/gms/gms/entities", "/gms/entities"],
    ["/entitiesV", "/entitiesV"],
    ["/entities%2Fa", "/entities%2Fa"],
    ["*", "*"],
    ["?", "/"],
  ])("the path of %s is %s, outside the resources", (target, path) => {
    expect(parse(target)).toMatchObject({ path, resource: undefined, rawKey: undefined });
  });

  test("a prefix is removed once, and never from a key", () => {
    expect(parse("/entities/gms/a").rawKey).toBe("gms/a");
    expect(parse("/entities//gms/a").rawKey).toBe("/gms/a");
  });

  test.each([
    ["/aspects?action=ingestProposal", "ingestProposal"],
    ["/aspects?x=1&action=a&action=b", "a"],
    ["/aspects?action=", ""],
    ["/aspects?reaction=a", undefined],
    ["/aspects?action=ingest%50roposal", "ingestProposal"],
    ["/aspects?action=%zz", "%zz"],
    ["/aspects?", undefined],
  ])("the action of %s is %s", (target, action) => {
    expect(parse(target).action).toBe(action);
  });

  test("parses any target", () => {
    const pieces = [
      "/",
      "?",
      "#",
      "%",
      "gms",
      "api",
      "entities",
      "é",
      "=",
      "&",
      "action",
      " ",
      "(",
      "http://",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), (parts) => {
        const { path, rawKey, resource } = parse(parts.join(""));
        expect(path).not.toContain("?");
        if (rawKey !== undefined) expect(path).toBe(`/${resource}/${rawKey}`);
      }),
      { numRuns: 2000 },
    );
  });
});
