/** The repair of differences that a verification found (src/projector/verify/repair.ts). */
import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import type { Difference } from "../../src/projector/verify/differences.ts";
import { verifyAndRepair } from "../../src/projector/verify/repair.ts";

const views = ["aspects", "search"];
const missing = (view: string, urn: string): Difference => ({
  ...{ view, urn, aspect: "status", kind: "missing" },
});
const fault = (view: string): Difference => ({
  ...{ view, urn: "", aspect: "", kind: "different", there: "the file is damaged" },
});

/** Views with differences; a rebuild removes all differences of a view. */
function damaged(
  wrong: readonly Difference[],
  {
    unreadable = [],
    restorable = () => true,
    fed = true,
    signal,
  }: {
    readonly unreadable?: readonly string[];
    readonly restorable?: (urn: string) => boolean;
    readonly fed?: boolean;
    readonly signal?: AbortSignal;
  } = {},
) {
  let differences = wrong;
  let broken = unreadable;
  const done: string[] = [];
  const repair = () =>
    verifyAndRepair(views, {
      async verify(asked) {
        done.push(`verify ${asked}`);
        signal?.throwIfAborted();
        if (asked.some((view) => broken.includes(view))) {
          throw new CatalogError("unavailable", "a view cannot be read");
        }
        return asked.map((view) => {
          const found = differences.filter((one) => one.view === view);
          const place = { position: position(7), rows: 1, time: 0 };
          const looks = { full: undefined, whole: undefined };
          return { view, ...place, ...looks, count: found.length, differences: found };
        });
      },
      async restore(urns) {
        done.push(`restore ${urns}`);
        differences = differences.filter(({ urn }) => !urns.includes(urn) || !restorable(urn));
        return fed;
      },
      async rebuild(some) {
        done.push(`rebuild ${some}`);
        differences = differences.filter(({ view }) => !some.includes(view));
        broken = broken.filter((view) => !some.includes(view));
      },
      signal,
    });
  return { repair, done };
}

const countsOf = (all: readonly { readonly view: string; readonly count: number }[]) =>
  Object.fromEntries(all.map(({ view, count }) => [view, count]));

test("a repair of views without differences does nothing", async () => {
  const { repair, done } = damaged([]);
  expect(await repair()).toMatchObject({ restored: 0, rebuilt: [] });
  expect(done).toEqual(["verify aspects,search"]);
});

test("a repair restores each differing entity once", async () => {
  const { repair, done } = damaged([missing("search", "a"), missing("aspects", "a")]);
  const { before, after, restored, rebuilt } = await repair();
  expect(countsOf(before)).toEqual({ aspects: 1, search: 1 });
  expect(countsOf(after)).toEqual({ aspects: 0, search: 0 });
  expect({ restored, rebuilt }).toEqual({ restored: 1, rebuilt: [] });
  expect(done).toEqual(["verify aspects,search", "restore a", "verify aspects,search"]);
});

test("a view with a difference that belongs to no entity is rebuilt, and entities of other views are restored", async () => {
  const { repair, done } = damaged([
    fault("search"),
    missing("search", "a"),
    missing("aspects", "b"),
  ]);
  const { after, restored, rebuilt } = await repair();
  expect(countsOf(after)).toEqual({ aspects: 0, search: 0 });
  expect({ restored, rebuilt }).toEqual({ restored: 1, rebuilt: ["search"] });
  expect(done).toEqual([
    ...["verify aspects,search", "restore b", "verify aspects"],
    ...["rebuild search", "verify search"],
  ]);
});

test("a view with entities that a restore does not repair is rebuilt", async () => {
  const wrong = [missing("search", "a"), missing("search", "b")];
  const { repair } = damaged(wrong, { restorable: (urn) => urn === "a" });
  const { after, restored, rebuilt } = await repair();
  expect(countsOf(after)).toEqual({ aspects: 0, search: 0 });
  expect({ restored, rebuilt }).toEqual({ restored: 3, rebuilt: ["search"] });
});

test("a view is not rebuilt if no projector was there to restore its entities", async () => {
  const asked = { restorable: () => false, fed: false };
  const { after, rebuilt } = await damaged([missing("search", "a")], asked).repair();
  expect(countsOf(after)).toEqual({ aspects: 0, search: 1 });
  expect(rebuilt).toEqual([]);
});

test("an unreadable view is rebuilt, and the others are verified", async () => {
  const { repair, done } = damaged([missing("aspects", "a")], { unreadable: ["search"] });
  const { before, after, rebuilt } = await repair();
  expect(countsOf(before)).toEqual({ aspects: 1 });
  expect(countsOf(after)).toEqual({ aspects: 0, search: 0 });
  expect(rebuilt).toEqual(["search"]);
  expect(done).toEqual([
    ...["verify aspects,search", "verify aspects", "verify search", "verify aspects"],
    ...["restore a", "verify aspects", "rebuild search", "verify search"],
  ]);
});

test("a cancelled repair rebuilds no views", async () => {
  const signal = AbortSignal.abort(new CatalogError("unavailable", "it was given up"));
  const { repair, done } = damaged([fault("search")], { signal });
  await expect(repair()).rejects.toThrow("it was given up");
  expect(done).toEqual(["verify aspects,search"]);
});
