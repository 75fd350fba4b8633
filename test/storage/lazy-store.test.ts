import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { keepOpening, openLazily } from "../../src/storage/lazy-store.ts";

interface Store {
  ask(text: string): Promise<string>;
  extra?(): Promise<number>;
  close(outcome?: string): Promise<void>;
}

function createServer() {
  const server = { up: false, opened: 0, closed: [] as (string | undefined)[] };
  const open = async (): Promise<Store> => {
    if (!server.up) throw new CatalogError("unavailable", "the server is down");
    server.opened++;
    return {
      ask: async (text) => `${text}!`,
      close: async (outcome) => void server.closed.push(outcome),
    };
  };
  return { server, store: openLazily<Store>("the store", open, ["ask", "extra"]) };
}

test("a store is opened once, at its first use, and again after a failure", async () => {
  const { server, store } = createServer();
  await expect(store.ask("who")).rejects.toThrow("the server is down");
  server.up = true;
  expect(await Promise.all([store.ask("who"), store.ask("what")])).toEqual(["who!", "what!"]);
  expect(await store.extra?.()).toBeUndefined();
  expect(server.opened).toBe(1);
  await store.close("keep");
  expect(server.closed).toEqual(["keep"]);
  await expect(store.ask("who")).rejects.toMatchObject({ code: "unavailable" });
});

test("an unused store is closed without being opened", async () => {
  const { server, store } = createServer();
  await store.close();
  expect(server).toMatchObject({ opened: 0, closed: [] });
});

test("opening is retried until it succeeds or the store is closed", async () => {
  const failures: unknown[] = [];
  const closed: string[] = [];
  let up = false;
  let opened = 0;
  const open = async () => {
    if (!up) throw new CatalogError("unavailable", "the server is down");
    opened++;
    return { close: async () => void closed.push("closed") };
  };
  const parts = { open, pauseMs: 1, onFailure: (error: unknown) => failures.push(error) };
  const opening = keepOpening(parts);
  await expect.poll(() => failures.length).toBeGreaterThan(1);
  up = true;
  await expect.poll(() => opened).toBe(1);
  await opening.close();
  expect(closed).toEqual(["closed"]);
  up = false;
  await keepOpening({ ...parts, pauseMs: 600_000 }).close();
  expect(closed).toHaveLength(1);
});
