/** A value that was computed ahead is used for the current value that it follows from, and for no other. */
import { expect, test } from "vitest";
import { largeCharacters } from "../../../src/catalog/catalog.ts";
import { computeAhead, computedAhead } from "../../../src/catalog/write/computed-ahead.ts";
import { type Intent, settledText } from "../../../src/core/decide.ts";
import { type EntityState, unknownEntity } from "../../../src/core/entity-state.ts";
import { CatalogError } from "../../../src/core/errors.ts";

const large = (name: string): string => JSON.stringify({ name: name.repeat(largeCharacters) });

const tagProperties = {
  name: "tagProperties",
  version: 1,
  time: 0,
  actor: "urn:li:corpuser:mira",
  system: { lastObserved: 0, runId: "no-run-id-provided" },
  removed: false,
};

/** An intent that appends to the name; `computed` lists the current values given to the other thread. */
function intentOf(suffix: string, fault?: Error) {
  const computed: (string | undefined)[] = [];
  const parts = computedAhead(
    (current) => settledText(JSON.stringify({ name: `${current?.value.name}${suffix} here` })),
    10,
    async (current) => {
      computed.push(current);
      if (fault !== undefined) throw fault;
      return JSON.stringify({ name: `${JSON.parse(current ?? "{}").name}${suffix}` });
    },
  );
  const intent: Intent = {
    aspect: "tagProperties",
    kind: "put",
    schemaVersion: 1,
    system: {},
    conditions: {},
    label: "",
    ...parts,
  };
  return { intent, computed, value: parts.value };
}

const stateOf = (value: string): EntityState => ({
  ...unknownEntity("urn:li:tag:wide"),
  aspects: new Map([["tagProperties", { ...tagProperties, value }]]),
});

const noSibling = () => undefined;

test("a small value is not computed ahead", () => {
  const { intent } = intentOf("x");
  expect(computeAhead([intent], stateOf(`{"name":"small"}`))).toBeUndefined();
});

test("the result is used for the same current value", async () => {
  const { intent, computed, value } = intentOf("x");
  await computeAhead([intent], stateOf(large("a")))?.();
  expect(computed).toEqual([large("a")]);
  const { name } = value(settledText(large("a")), noSibling).value;
  expect(String(name).slice(-2)).toBe("ax");
});

test("another current value is computed by the decision", async () => {
  const { intent, value } = intentOf("x");
  await computeAhead([intent], stateOf(large("a")))?.();
  expect(value(settledText(`{"name":"b"}`), noSibling).value).toEqual({ name: "bx here" });
});

test("each intent of a request follows from the one before it", async () => {
  const [first, second] = [intentOf("x"), intentOf("y")];
  await computeAhead([first.intent, second.intent], stateOf(large("a")))?.();
  expect(second.computed).toEqual([first.value(settledText(large("a")), noSibling).text]);
});

test("a rejection becomes the result of the decision", async () => {
  const { intent, value } = intentOf("x", new CatalogError("invalid", "it does not apply"));
  await computeAhead([intent], stateOf(large("a")))?.();
  expect(() => value(settledText(large("a")), noSibling)).toThrow("it does not apply");
});

test("a fault of the thread fails the request", async () => {
  const { intent } = intentOf("x", new Error("the thread ended"));
  await expect(computeAhead([intent], stateOf(large("a")))?.()).rejects.toThrow("the thread ended");
});
