/** A write of versionProperties updates its version set, whichever interface writes it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let count = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:s3,${name}${count},PROD)`;
const nextSet = () => `urn:li:versionSet:(set${++count},dataset)`;
const versioningScheme = "LEXICOGRAPHIC_STRING";
const version = (versionSet: string, sortId: string) => ({
  ...{ versionSet, sortId, versioningScheme },
  version: { versionTag: sortId },
});

async function ingest(...proposals: readonly object[]): Promise<void> {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}
const write = (urn: string, versionSet: string, sortId: string) =>
  ingest(proposal(urn, "versionProperties", version(versionSet, sortId)));

const patchOf = (urn: string, operations: readonly object[]) => ({
  ...{ entityType: "dataset", entityUrn: urn, changeType: "PATCH" },
  aspectName: "versionProperties",
  aspect: { value: JSON.stringify(operations), contentType: "application/json-patch+json" },
});

async function aspectOf(urn: string, aspect: string) {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${aspect})`);
  return body.aspects?.[aspect]?.value;
}
const isLatest = async (urn: string) => (await aspectOf(urn, "versionProperties"))?.isLatest;
const setOf = (urn: string) => aspectOf(urn, "versionSetProperties");

test("the first version creates its set and is its latest", async () => {
  const [set, first] = [nextSet(), dataset("first")];
  await write(first, set, "abc");
  expect(await setOf(set)).toMatchObject({ latest: first, versioningScheme });
  expect(await isLatest(first)).toBe(true);
  await write(first, set, "abd");
  expect(await isLatest(first)).toBe(true);
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
  await ingest(proposal(second, "versionProperties", { ...unstated, sortId: "b" }));
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
