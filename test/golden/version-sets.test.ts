/** A write of versionProperties updates its version set, whichever interface writes it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { createVersions, version, versioningScheme } from "../support/versions.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const versions = createVersions(() => service);
const { aspectOf, current, dataset, flagsOf, ingest, nextSet, setOf, write } = versions;

const patchOf = (urn: string, operations: readonly object[]) => ({
  ...{ entityType: "dataset", entityUrn: urn, changeType: "PATCH" },
  aspectName: "versionProperties",
  aspect: { value: JSON.stringify(operations), contentType: "application/json-patch+json" },
});

const isLatest = async (urn: string) => (await flagsOf(urn))[0];

test("the first version creates its set and is its latest", async () => {
  const [set, first] = [nextSet(), dataset("first")];
  await write(first, set, "abc");
  expect(await setOf(set)).toMatchObject({ latest: first, versioningScheme });
  expect(await isLatest(first)).toBe(true);
  await write(first, set, "abd");
  expect(await isLatest(first)).toBe(true);
});

test("a version that is named by its key creates its set", async () => {
  const [set, urn] = [nextSet(), dataset("key")];
  const key = { platform: "urn:li:dataPlatform:s3", name: `key${current()}`, origin: "PROD" };
  const { entityUrn: _, ...named } = proposal(urn, "versionProperties", version(set, "abc"));
  const entityKeyAspect = { value: JSON.stringify(key), contentType: "application/json" };
  await ingest({ ...named, entityKeyAspect });
  expect(await setOf(set)).toMatchObject({ latest: urn });
  expect(await isLatest(urn)).toBe(true);
});

test("a greater sort id becomes the latest, a smaller one does not", async () => {
  const [set, old, later, earlier] = [nextSet(), dataset("old"), dataset("new"), dataset("less")];
  await write(old, set, "abc");
  await write(later, set, "bbb");
  await write(earlier, set, "aaa");
  expect(await setOf(set)).toMatchObject({ latest: later });
  expect(await Promise.all([old, later, earlier].map(isLatest))).toEqual([false, true, false]);
});

test("of the versions of one batch the greatest sort id becomes the latest", async () => {
  const [set, stored, ...urns] = [nextSet(), ...["s", "a", "b", "c"].map(dataset)] as const;
  await write(stored as string, set, "00");
  const ids = ["05", "14", "09"];
  await ingest(
    ...urns.map((urn, i) => proposal(urn, "versionProperties", version(set, ids[i] ?? ""))),
  );
  expect(await setOf(set)).toMatchObject({ latest: urns[1] });
  expect(await Promise.all([stored as string, ...urns].map(isLatest))).toEqual([
    ...[false, false, true, false],
  ]);
});

test("a patch that raises the sort id makes its version the latest", async () => {
  const [set, old, later] = [nextSet(), dataset("old"), dataset("new")];
  await write(old, set, "aaa");
  await write(later, set, "bbb");
  const patched = (value: unknown) => ingest(patchOf(old, [{ op: "add", path: "/sortId", value }]));
  await patched("abb");
  expect(await setOf(set)).toMatchObject({ latest: later });
  await patched("ccc");
  expect(await setOf(set)).toMatchObject({ latest: old });
  expect(await Promise.all([old, later].map(isLatest))).toEqual([true, false]);
  await ingest(patchOf(later, [{ op: "add", path: "/isLatest", value: true }]));
  expect(await Promise.all([old, later].map(isLatest))).toEqual([true, false]);
});

test("a patch of a version in a batch with a later one leaves exactly one latest", async () => {
  const [set, old, later] = [nextSet(), dataset("old"), dataset("new")];
  await write(old, set, "aaa");
  await ingest(
    patchOf(old, [{ op: "add", path: "/sortId", value: "bbb" }]),
    proposal(later, "versionProperties", version(set, "ccc")),
  );
  expect(await setOf(set)).toMatchObject({ latest: later });
  expect(await Promise.all([old, later].map(isLatest))).toEqual([false, true]);
});

test("concurrent versions of one set leave exactly one latest", async () => {
  const set = nextSet();
  const urns = Array.from({ length: 12 }, (_, i) => dataset(`race${i}.`));
  await Promise.all(urns.map((urn, i) => write(urn, set, String(i).padStart(2, "0"))));
  expect(await setOf(set)).toMatchObject({ latest: urns.at(-1) });
  const latest = await Promise.all(urns.map(isLatest));
  expect(latest.filter(Boolean)).toHaveLength(1);
  expect(latest.at(-1)).toBe(true);
});

test("a version without a scheme gives its set the default of the model", async () => {
  const [set, first, second] = [nextSet(), dataset("plain"), dataset("next")];
  const { versioningScheme: scheme, ...unstated } = version(set, "a");
  await ingest(proposal(first, "versionProperties", unstated));
  expect(await setOf(set)).toMatchObject({ latest: first, versioningScheme: scheme });
  const next = { ...unstated, sortId: "b", version: { versionTag: "b" } };
  await ingest(proposal(second, "versionProperties", next));
  expect(await setOf(set)).toMatchObject({ latest: second, versioningScheme: scheme });
  expect(await Promise.all([first, second].map(isLatest))).toEqual([false, true]);
});

test("OpenAPI writes also update the version set", async () => {
  const [set, urn] = [nextSet(), dataset("openapi")];
  const reply = await service.client.call("POST", "/openapi/v3/entity/dataset?async=false", [
    { urn, versionProperties: { value: version(set, "1") } },
  ]);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  expect(await setOf(set)).toMatchObject({ latest: urn });
  expect(await isLatest(urn)).toBe(true);
});

describe("the latest version leaves its set", () => {
  /** A set with three versions; the last one is the latest. */
  async function threeVersions() {
    const [set, ...urns] = [nextSet(), ...["a", "b", "c"].map(dataset)] as const;
    for (const [i, urn] of urns.entries()) await write(urn, set, `0${i}`);
    return { set, urns: urns as readonly string[] };
  }
  const remove = (urn: string) => service.client.call("POST", "/entities?action=delete", { urn });

  const ways: readonly [string, (urn: string) => Promise<unknown>][] = [
    ["a hard delete", remove],
    [
      "the deletion of its aspect",
      (entityUrn) =>
        ingest({
          ...{ entityType: "dataset", entityUrn, changeType: "DELETE" },
          aspectName: "versionProperties",
        }),
    ],
    [
      "a deletion over OpenAPI",
      (urn) =>
        service.client.call(
          "DELETE",
          `/openapi/v3/entity/dataset/${encoded(urn)}/versionProperties`,
        ),
    ],
    ["a move to another set", (urn) => write(urn, nextSet(), "00")],
    [
      "a smaller sort id",
      (urn) => ingest(patchOf(urn, [{ op: "add", path: "/sortId", value: "001" }])),
    ],
  ];
  test.each(ways)("after %s the newest other version is the latest", async (_, leave) => {
    const { set, urns } = await threeVersions();
    await leave(urns[2] as string);
    expect(await setOf(set)).toMatchObject({ latest: urns[1] });
    expect(await Promise.all(urns.slice(0, 2).map(isLatest))).toEqual([false, true]);
  });

  test("one request deletes several versions", async () => {
    const { set, urns } = await threeVersions();
    const deletes = urns.slice(1).map((entityUrn) => ({
      ...{ entityType: "dataset", entityUrn, changeType: "DELETE", aspectName: "datasetKey" },
    }));
    await ingest(...deletes);
    expect(await setOf(set)).toMatchObject({ latest: urns[0] });
    expect(await isLatest(urns[0] as string)).toBe(true);
  });

  test("concurrent deletes leave exactly one latest version", async () => {
    const { set, urns } = await threeVersions();
    await Promise.all(urns.slice(1).map(remove));
    expect(await setOf(set)).toMatchObject({ latest: urns[0] });
    expect(await isLatest(urns[0] as string)).toBe(true);
  });

  test("the last version leaves a set without properties", async () => {
    const [set, only] = [nextSet(), dataset("only")];
    await write(only, set, "00");
    await remove(only);
    expect(await setOf(set)).toBeUndefined();
    const next = dataset("next");
    await write(next, set, "00");
    expect(await setOf(set)).toMatchObject({ latest: next });
  });

  test("the deletion of another version changes nothing", async () => {
    const { set, urns } = await threeVersions();
    const before = await setOf(set);
    await remove(urns[0] as string);
    expect(await setOf(set)).toEqual(before);
  });
});

describe("a direct write of versionSetProperties", () => {
  const setProposal = (set: string, value: object) => proposal(set, "versionSetProperties", value);
  async function twoVersions() {
    const [set, old, later] = [nextSet(), dataset("old"), dataset("later")];
    await write(old, set, "01");
    await write(later, set, "02");
    return { set, old, later };
  }

  test("that names another version moves the flag to it", async () => {
    const { set, old, later } = await twoVersions();
    await ingest(setProposal(set, { latest: old, versioningScheme }));
    expect(await setOf(set)).toMatchObject({ latest: old });
    expect(await flagsOf(old, later)).toEqual([true, false]);
    const next = dataset("next");
    await write(next, set, "03");
    expect(await setOf(set)).toMatchObject({ latest: next });
    expect(await flagsOf(old, later, next)).toEqual([false, false, true]);
  });

  test("a patch of the latest version moves the flag to it", async () => {
    const { set, old, later } = await twoVersions();
    const operations = [{ op: "add", path: "/latest", value: old }];
    const { entityUrn: _, ...patch } = patchOf(old, operations);
    await ingest({
      ...{ ...patch, entityType: "versionSet", entityUrn: set },
      aspectName: "versionSetProperties",
    });
    expect(await flagsOf(old, later)).toEqual([true, false]);
  });

  test("that names no version of the set leaves the newest version as the latest", async () => {
    const { set, old, later } = await twoVersions();
    await ingest(setProposal(set, { latest: dataset("foreign"), versioningScheme }));
    expect(await setOf(set)).toMatchObject({ latest: later });
    expect(await flagsOf(old, later)).toEqual([false, true]);
  });

  test("of a set without versions is kept until a version is written", async () => {
    const [set, first] = [nextSet(), dataset("first")];
    await ingest(setProposal(set, { latest: dataset("foreign"), versioningScheme }));
    expect(await setOf(set)).toMatchObject({ latest: dataset("foreign") });
    await write(first, set, "01");
    expect(await setOf(set)).toMatchObject({ latest: first });
  });

  test("in a batch with a version decides which version is the latest", async () => {
    const { set, old, later } = await twoVersions();
    const next = dataset("next");
    await ingest(
      setProposal(set, { latest: old, versioningScheme }),
      proposal(next, "versionProperties", { ...version(set, "03"), isLatest: true }),
    );
    expect(await setOf(set)).toMatchObject({ latest: old });
    expect(await flagsOf(old, later, next)).toEqual([true, false, false]);
  });

  test("that names the version in another namespace selects it", async () => {
    const { set, old, later } = await twoVersions();
    await ingest(
      proposal(set, "versionSetProperties", {
        latest: old.replace("urn:li:dataset", "urn:other:dataset"),
        versioningScheme,
      }),
    );
    expect(await setOf(set)).toMatchObject({ latest: old });
    expect(await Promise.all([old, later].map(isLatest))).toEqual([true, false]);
  });

  test("that is skipped selects no version", async () => {
    const { set, later } = await twoVersions();
    const next = dataset("next");
    const created = proposal(set, "versionSetProperties", { latest: later, versioningScheme });
    await ingest(
      { ...created, changeType: "CREATE", headers: { "If-None-Match": "*" } },
      proposal(next, "versionProperties", version(set, "99")),
    );
    expect(await setOf(set)).toMatchObject({ latest: next });
    expect(await Promise.all([later, next].map(isLatest))).toEqual([false, true]);
  });

  test("follows the deletion of its set in one batch", async () => {
    const { set, old, later } = await twoVersions();
    await ingest(
      {
        ...{ entityType: "versionSet", entityUrn: set, changeType: "DELETE" },
        aspectName: "versionSetKey",
      },
      setProposal(set, { latest: old, versioningScheme }),
    );
    expect(await setOf(set)).toMatchObject({ latest: old });
    expect(await flagsOf(old, later)).toEqual([true, false]);
  });

  test("after its deletion the next version is the only latest", async () => {
    const { set, old, later } = await twoVersions();
    await ingest({
      ...{ entityType: "versionSet", entityUrn: set, changeType: "DELETE" },
      aspectName: "versionSetProperties",
    });
    const next = dataset("next");
    await write(next, set, "03");
    expect(await flagsOf(old, later, next)).toEqual([false, false, true]);
  });
});

describe("sort ids and labels", () => {
  test.each([
    ["sort id", { sortId: "01" }, "/sortId"],
    ["label", { version: { versionTag: "01" } }, "/version/versionTag"],
  ])("a %s that another version of the set has is rejected", async (_, repeated, path) => {
    const [set, old, next] = [nextSet(), dataset("old"), dataset("next")];
    await write(old, set, "01");
    const reply = await service.client.upsert(next, "versionProperties", {
      ...{ ...version(set, "02"), ...repeated },
    });
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain(path);
    expect(await aspectOf(next, "versionProperties")).toBeUndefined();
    await write(old, set, "01");
    await write(next, nextSet(), "01");
  });

  test("versions without labels are accepted", async () => {
    const set = nextSet();
    for (const sortId of ["a", "b"]) {
      const value = { ...version(set, sortId), version: {} };
      await ingest(proposal(dataset(sortId), "versionProperties", value));
    }
    expect(await setOf(set)).toMatchObject({ latest: dataset("b") });
  });

  test("two versions of one request with one sort id are rejected", async () => {
    const [set, one, two] = [nextSet(), dataset("one"), dataset("two")];
    const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: [one, two].map((urn) => proposal(urn, "versionProperties", version(set, "1"))),
    });
    expect(reply.status).toBe(422);
    expect(await setOf(set)).toBeUndefined();
  });
});
