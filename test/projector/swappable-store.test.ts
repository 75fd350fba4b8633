import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { createSwappableStore } from "../../src/projector/rebuild/swappable-store.ts";

function openStore(name: string) {
  const gates: PromiseWithResolvers<void>[] = [];
  const asked: string[] = [];
  return {
    asked,
    gates,
    closed: false,
    async find(what: string): Promise<string> {
      asked.push(what);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return `${name}: ${what}`;
    },
    async close() {
      closed.add(name);
    },
  };
}

const closed = new Set<string>();

test("operations finish on the store that they began with, which is then closed", async () => {
  closed.clear();
  const [old, next] = [openStore("old"), openStore("next")];
  const { store, swap: replace } = createSwappableStore(old);
  const before = store.find("a");
  let idle = false;
  const replaced = replace(next).then(() => {
    idle = true;
  });
  const after = store.find("b");
  next.gates[0]?.resolve();
  expect(await after).toBe("next: b");
  expect([idle, closed.has("old")]).toEqual([false, false]);
  old.gates[0]?.resolve();
  expect(await before).toBe("old: a");
  await replaced;
  expect(closed.has("old")).toBe(true);
  await store.close();
  expect(closed.has("next")).toBe(true);
});

test("an unused store is closed at once", async () => {
  closed.clear();
  const { swap: replace } = createSwappableStore(openStore("old"));
  await replace(openStore("next"));
  expect(closed.has("old")).toBe(true);
});

test("a new store is warmed up with the latest queries of the old one", async () => {
  const [old, next] = [openStore("old"), openStore("next")];
  const { store, warm } = createSwappableStore(old, { repeatedMethod: "find" });
  for (let n = 0; n < 20; n++) void store.find(`q${n}`);
  const warming = warm(next);
  for (let n = 0; n < 16; n++) {
    await expect.poll(() => next.gates.length).toBe(n + 1);
    if (n === 3) next.gates[n]?.reject(new Error("not there yet"));
    else next.gates[n]?.resolve();
  }
  await warming;
  expect(next.asked).toEqual(Array.from({ length: 16 }, (_, n) => `q${n + 4}`));
});

test("queries are rejected until the rejection is lifted", async () => {
  const old = openStore("old");
  const { store, rejectReads } = createSwappableStore(old);
  rejectReads(new CatalogError("unavailable", "of another model"));
  await expect(store.find("a")).rejects.toThrow("of another model");
  rejectReads(undefined);
  const found = store.find("b");
  old.gates[0]?.resolve();
  expect(await found).toBe("old: b");
});
