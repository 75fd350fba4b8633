/** The rollback of a run keeps version sets consistent: one latest version, unique sort ids. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { createVersions, version, versioningScheme } from "../support/versions.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const versions = createVersions(() => service);
const { aspectOf, current, dataset, flagsOf, ingest, nextSet, setOf, write } = versions;
const runWith = (runId: string) => ({ systemMetadata: { runId, lastObserved: 1 } });
const writeIn = (run: string, urn: string, set: string, sortId: string) =>
  ingest({ ...proposal(urn, "versionProperties", version(set, sortId)), ...runWith(run) });
const rollBack = async (runId: string, hardDelete = false) => {
  const reply = await service.client.call("POST", "/runs?action=rollback", {
    ...{ runId, dryRun: false, hardDelete, safe: !hardDelete },
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body.value;
};
const sortIds = (...urns: readonly string[]) =>
  Promise.all(urns.map(async (urn) => (await aspectOf(urn, "versionProperties"))?.sortId));

test.each([false, true])(
  "the rollback of a run restores the latest version, hardDelete %s",
  async (hard) => {
    const [set, old, ...urns] = [nextSet(), ...["old", "x", "y"].map(dataset)] as const;
    await writeIn(`first${current()}`, old as string, set, "00");
    for (const [i, urn] of urns.entries()) await writeIn(`second${current()}`, urn, set, `1${i}`);
    await rollBack(`second${current()}`, hard);
    expect(await setOf(set)).toMatchObject({ latest: old });
    expect((await flagsOf(old as string))[0]).toBe(true);
    for (const urn of urns) expect(await aspectOf(urn, "versionProperties")).toBeUndefined();
  },
);

test("the rollback of a run keeps the latest version of a later run", async () => {
  const [set, ...urns] = [nextSet(), ...["one", "two", "three"].map(dataset)] as const;
  for (const [i, urn] of urns.entries()) await writeIn(`${current()}run${i}`, urn, set, `0${i}`);
  await rollBack(`${current()}run1`);
  expect(await setOf(set)).toMatchObject({ latest: urns[2] });
  expect(await flagsOf(urns[0] as string, urns[2] as string)).toEqual([...[false, true]]);
  await rollBack(`${current()}run2`);
  expect(await setOf(set)).toMatchObject({ latest: urns[0] });
  expect((await flagsOf(urns[0] as string))[0]).toBe(true);
});

test("the rollback of the latest version selects the greatest one that is left", async () => {
  const [set, ...urns] = [nextSet(), ...["a", "b", "d", "c"].map(dataset)] as const;
  for (const [i, id] of ["10", "20", "40", "30"].entries()) {
    await writeIn(`${current()}left${i}`, urns[i] as string, set, id);
  }
  await rollBack(`${current()}left2`);
  expect(await setOf(set)).toMatchObject({ latest: urns[3] });
  expect(await flagsOf(urns[1] as string, urns[3] as string)).toEqual([false, true]);
});

test("the rollback of a run that named another latest version restores the latest one", async () => {
  const [set, old, later] = [nextSet(), dataset("old"), dataset("later")];
  await writeIn(`versions${current()}`, old, set, "01");
  await writeIn(`versions${current()}`, later, set, "02");
  const named = proposal(set, "versionSetProperties", { latest: old, versioningScheme });
  await ingest({ ...named, ...runWith(`naming${current()}`) });
  await rollBack(`naming${current()}`);
  expect(await setOf(set)).toMatchObject({ latest: later });
  expect(await flagsOf(old, later)).toEqual([false, true]);
});

test("a flag that follows from a version of another run is no write of that run", async () => {
  const [set, first, next] = [nextSet(), dataset("first"), dataset("next")];
  await writeIn(`flagged${current()}`, first, set, "01");
  await writeIn(`flagging${current()}`, next, set, "02");
  expect(await flagsOf(first)).toEqual([false]);
  const described = await service.client.call("POST", "/runs?action=describe", {
    ...{ runId: `flagging${current()}`, start: 0, count: 100 },
  });
  expect(described.body.value.map(({ urn }: { urn: string }) => urn)).not.toContain(first);
  const rolledBack = await rollBack(`flagged${current()}`);
  // The set has a version of the other run.
  expect(rolledBack.unsafeEntities).toEqual([{ urn: set }]);
  expect(await aspectOf(first, "status")).toEqual({ removed: true });
  expect(await sortIds(first, next)).toEqual([undefined, "02"]);
  expect(await flagsOf(next)).toEqual([true]);
});

test("the rollback of a run restores the value below a flag of another run", async () => {
  const [set, first, next] = [nextSet(), dataset("first"), dataset("next")];
  await writeIn(`base${current()}`, first, set, "01");
  await writeIn(`changing${current()}`, first, set, "03");
  await writeIn(`above${current()}`, next, set, "04");
  expect(await flagsOf(first)).toEqual([false]);
  await rollBack(`changing${current()}`);
  expect(await sortIds(first, next)).toEqual(["01", "04"]);
  expect(await flagsOf(first, next)).toEqual([false, true]);
});

test("the rollback of a run keeps a version whose sort id another version has meanwhile", async () => {
  const [set, moved, next] = [nextSet(), dataset("moved"), dataset("next")];
  const other = nextSet();
  await writeIn(`first${current()}`, moved, set, "01");
  await writeIn(`moving${current()}`, moved, set, "02");
  await writeIn(`taking${current()}`, next, set, "01");
  expect(await rollBack(`moving${current()}`)).toMatchObject({
    ...{ unsafeEntitiesCount: 1, unsafeEntities: [{ urn: moved }] },
  });
  expect(await sortIds(moved, next)).toEqual(["02", "01"]);
  expect(await setOf(set)).toMatchObject({ latest: moved });
  expect(await flagsOf(moved, next)).toEqual([true, false]);
  // Without the other version, the same rollback restores the sort id.
  await write(next, other, "01");
  await rollBack(`moving${current()}`);
  expect(await sortIds(moved)).toEqual(["01"]);
});

test("the rollback of a run keeps every version whose earlier sort id a kept version has", async () => {
  const [set, one, two, next] = [nextSet(), ...["one", "two", "next"].map(dataset)] as const;
  await writeIn(`first${current()}`, one as string, set, "01");
  await writeIn(`first${current()}`, two as string, set, "02");
  await writeIn(`moving${current()}`, two as string, set, "03");
  await writeIn(`moving${current()}`, one as string, set, "02");
  await writeIn(`taking${current()}`, next as string, set, "01");
  expect((await rollBack(`moving${current()}`)).unsafeEntitiesCount).toBe(2);
  const urns = [one, two, next] as readonly string[];
  expect(await sortIds(...urns)).toEqual(["02", "03", "01"]);
  expect(await flagsOf(...urns)).toEqual([false, true, false]);
});

test("the rollback of a run restores sort ids that the run exchanged", async () => {
  const [set, one, two] = [nextSet(), dataset("one"), dataset("two")];
  await writeIn(`first${current()}`, one, set, "01");
  await writeIn(`first${current()}`, two, set, "02");
  const swapped = [[one, "02"] as const, [two, "01"] as const].map(([urn, sortId]) => ({
    ...proposal(urn, "versionProperties", version(set, sortId)),
    ...runWith(`swapping${current()}`),
  }));
  await ingest(...swapped);
  expect((await rollBack(`swapping${current()}`)).unsafeEntitiesCount).toBe(0);
  expect(await sortIds(one, two)).toEqual(["01", "02"]);
  expect(await flagsOf(one, two)).toEqual([false, true]);
});

test("the rollback of a run leaves an unlinked version unlinked if another version has its sort id", async () => {
  const [set, gone, next] = [nextSet(), dataset("gone"), dataset("next")];
  await writeIn(`first${current()}`, gone, set, "01");
  await ingest({
    ...{ entityType: "dataset", entityUrn: gone, changeType: "DELETE" },
    ...{ aspectName: "versionProperties", ...runWith(`unlinking${current()}`) },
  });
  await writeIn(`taking${current()}`, next, set, "01");
  expect((await rollBack(`unlinking${current()}`)).unsafeEntitiesCount).toBe(1);
  expect(await sortIds(gone, next)).toEqual([undefined, "01"]);
  expect(await setOf(set)).toMatchObject({ latest: next });
});

test("the rollback of a run that created a set keeps it for the versions of other runs", async () => {
  const [set, one, two] = [nextSet(), dataset("one"), dataset("two")];
  await writeIn(`creating${current()}`, one, set, "10");
  await writeIn(`adding${current()}`, two, set, "00");
  await rollBack(`creating${current()}`);
  expect(await setOf(set)).toMatchObject({ latest: two });
  expect((await flagsOf(two))[0]).toBe(true);
});
