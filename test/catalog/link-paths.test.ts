/** Every field of the model that holds a URL follows the rule for links, or is listed here. */
import { expect, test } from "vitest";
import { createLinkPaths } from "../../src/catalog/write/proposals/link-paths.ts";
import { linkKindOf } from "../../src/core/rules/link-rules.ts";
import { defaultModel as model } from "../model/default-model.ts";

const paths = createLinkPaths(model);

/** URLs that no page shows as a link or picture. */
const unlinked = new Set([
  "DatasetProperties.uri", // the location of the data: hdfs://…, s3://…
  "OAuthProvider.jwksUri",
  "OidcSettings.discoveryUri",
  "SsoSettings.baseUrl",
]);

test("every field of text with a URL is a link", () => {
  const found = new Set<string>();
  for (const type of model.types.values()) {
    if (type.kind !== "record") continue;
    const record = type.name.slice(type.name.lastIndexOf(".") + 1);
    for (const { name, type: own } of type.fields) {
      const item = own.kind === "array" ? own.items : own;
      if (item.kind !== "primitive" || item.name !== "string") continue;
      if (!/ur[li]s?$|links?$/i.test(name)) continue;
      if (linkKindOf(record, name) === undefined) found.add(`${record}.${name}`);
    }
  }
  expect(found).toEqual(unlinked);
});

test("links are found in records, arrays and unions of an aspect", () => {
  const of = (aspect: string) =>
    paths(model.aspects.get(aspect)?.record ?? "").map(({ path }) => path.join("/"));
  expect(of("institutionalMemory")).toEqual(["elements/*/url"]);
  expect(of("dataHubPageModuleProperties")).toEqual([
    "params/linkParams/linkUrl",
    "params/linkParams/imageUrl",
  ]);
  expect(of("mlTrainingRunProperties")).toEqual(["externalUrl", "outputUrls/*"]);
  expect(of("status")).toEqual([]);
});
