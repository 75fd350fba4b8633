/** Changes of aspects in words. */
import { describe, expect, test } from "vitest";
import { differences, wordsOfChange } from "../../src/web/words/change-words.ts";

const owners = (...names: readonly string[]) => ({
  owners: names.map((name) => ({ owner: `urn:li:corpuser:${name}`, type: "DATAOWNER" })),
});

const changed = (aspectName: string, before: unknown, after: unknown) => ({
  changeType: "UPSERT",
  aspectName,
  ...(before === undefined ? {} : { previousAspectValue: { value: before } }),
  aspect: { value: after },
});

describe("a change in words", () => {
  test("names each owner that was added or removed", () => {
    expect(wordsOfChange(changed("ownership", owners("ann", "bo"), owners("bo", "cy")))).toEqual([
      "owner cy added as data owner",
      "owner ann removed as data owner",
    ]);
  });

  test("names the type of an owner who has several", () => {
    const owner = "urn:li:corpuser:ann";
    const curator = { owner, type: "CUSTOM", typeUrn: "urn:li:ownershipType:curator" };
    const steward = { owner, type: "DATA_STEWARD" };
    const technical = { owner, type: "TECHNICAL_OWNER" };
    const wordsOf = (before: readonly unknown[], after: readonly unknown[]) =>
      wordsOfChange(changed("ownership", { owners: before }, { owners: after }));
    expect(wordsOf([technical], [technical, steward])).toEqual(["owner ann added as data steward"]);
    expect(wordsOf([technical, steward], [technical])).toEqual([
      "owner ann removed as data steward",
    ]);
    expect(wordsOf([curator], [{ ...curator, typeUrn: "urn:li:ownershipType:reviewer" }])).toEqual([
      "owner ann added as reviewer",
      "owner ann removed as curator",
    ]);
    expect(wordsOf([], [{ owner, type: "NONE" }])).toEqual(["owner ann added"]);
  });

  test("names the items of a new list", () => {
    expect(
      wordsOfChange(changed("globalTags", undefined, { tags: [{ tag: "urn:li:tag:Rare" }] })),
    ).toEqual(["tag Rare added"]);
  });

  test("has the names of entities, at most 80 characters of each", () => {
    const nameOf = (urn: string) => (urn.endsWith("ann") ? "Ann Lee" : "x".repeat(100));
    expect(wordsOfChange(changed("ownership", owners("ann"), owners("bo")), nameOf)).toEqual([
      `owner ${"x".repeat(80)}… added as data owner`,
      "owner Ann Lee removed as data owner",
    ]);
    const domains = { domains: ["urn:li:domain:ann"] };
    expect(wordsOfChange(changed("domains", undefined, domains), nameOf)).toEqual([
      "domain Ann Lee added",
    ]);
    const container = { container: "urn:li:container:ann" };
    expect(differences({ container: "urn:li:container:bo" }, container, nameOf)).toEqual([
      "container changed to “Ann Lee”",
    ]);
  });

  test("describes the first text of a person, and names other new aspects", () => {
    const audit = { created: { time: 1 }, lastModified: { time: 1 } };
    const first = (value: object) =>
      wordsOfChange(changed("editableDatasetProperties", undefined, { ...audit, ...value }));
    expect(first({ description: "Cold store" })).toEqual(["description set to “Cold store”"]);
    expect(first({ description: "x".repeat(41) })).toEqual(["description added"]);
    expect(first({})).toEqual(["editable dataset properties added"]);
    expect(first({ description: "" })).toEqual(["editable dataset properties added"]);
    expect(
      wordsOfChange(changed("datasetProperties", undefined, { description: "a", rows: 3 })),
    ).toEqual(["dataset properties added"]);
  });

  test("calls the key of a new entity its creation", () => {
    expect(wordsOfChange(changed("tagKey", undefined, { name: "Rare" }))).toEqual(["created"]);
  });

  test("names deletions of aspects and of entities", () => {
    expect(wordsOfChange({ changeType: "DELETE", aspectName: "ownership" })).toEqual([
      "ownership deleted",
    ]);
    expect(wordsOfChange(changed("status", { removed: false }, { removed: true }))).toEqual([
      "soft-deleted",
    ]);
    expect(wordsOfChange(changed("status", { removed: true }, { removed: false }))).toEqual([
      "restored from deletion",
    ]);
  });

  test("has no sentence for members that follow from others", () => {
    const before = { ...owners("ann"), lastModified: { time: 1 } };
    expect(wordsOfChange(changed("ownership", before, owners("ann")))).toEqual([
      "ownership confirmed",
    ]);
  });
});

test("differences show short values, and custom properties one by one", () => {
  expect(
    differences(
      { name: "old", customProperties: { a: "1", b: "2" }, rows: 3 },
      { name: "new", customProperties: { b: "3", constructor: "4" }, size: 5 },
    ),
  ).toEqual([
    "name changed to “new”",
    "property a removed",
    "property b changed",
    "property constructor added",
    "rows removed",
    "size set to 5",
  ]);
});
