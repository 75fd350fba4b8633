/** A value computed ahead is used only for the current value that it was computed from. */
import { expect, test } from "vitest";
import { largeCharacters } from "../../../src/catalog/catalog.ts";
import { computeAhead, computedAhead } from "../../../src/catalog/write/computed-ahead.ts";
import { type AspectCommand, validatedText } from "../../../src/core/decide.ts";
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

/** A command that appends to the name; `computed` lists the current values sent to the other thread. */
function commandOf(suffix: string, failure?: Error) {
  const computed: (string | undefined)[] = [];
  const parts = computedAhead(
    (current) => validatedText(JSON.stringify({ name: `${current?.value.name}${suffix} here` })),
    10,
    async (current) => {
      computed.push(current);
      if (failure !== undefined) throw failure;
      return JSON.stringify({ name: `${JSON.parse(current ?? "{}").name}${suffix}` });
    },
  );
  const command: AspectCommand = {
    aspect: "tagProperties",
    kind: "put",
    schemaVersion: 1,
    system: {},
    conditions: {},
    label: "",
    ...parts,
  };
  return { command, computed, value: parts.value };
}

const stateOf = (value: string): EntityState => ({
  ...unknownEntity("urn:li:tag:wide"),
  aspects: new Map([["tagProperties", { ...tagProperties, value }]]),
});

const noSibling = () => undefined;

test("a small value is not computed ahead", () => {
  const { command } = commandOf("x");
  expect(computeAhead([command], stateOf(`{"name":"small"}`))).toBeUndefined();
});

test("the result is used for the same current value", async () => {
  const { command, computed, value } = commandOf("x");
  await computeAhead([command], stateOf(large("a")))?.();
  expect(computed).toEqual([large("a")]);
  const { name } = value(validatedText(large("a")), noSibling).value;
  expect(String(name).slice(-2)).toBe("ax");
});

test("the decision computes the value for another current value", async () => {
  const { command, value } = commandOf("x");
  await computeAhead([command], stateOf(large("a")))?.();
  expect(value(validatedText(`{"name":"b"}`), noSibling).value).toEqual({ name: "bx here" });
});

test("each command of a request follows from the one before it", async () => {
  const [first, second] = [commandOf("x"), commandOf("y")];
  await computeAhead([first.command, second.command], stateOf(large("a")))?.();
  expect(second.computed).toEqual([first.value(validatedText(large("a")), noSibling).text]);
});

test("a rejected command is rejected by the decision", async () => {
  const { command, value } = commandOf("x", new CatalogError("invalid", "it does not apply"));
  await computeAhead([command], stateOf(large("a")))?.();
  expect(() => value(validatedText(large("a")), noSibling)).toThrow("it does not apply");
});

test("an error of the thread fails the request", async () => {
  const { command } = commandOf("x", new Error("the thread ended"));
  await expect(computeAhead([command], stateOf(large("a")))?.()).rejects.toThrow(
    "the thread ended",
  );
});
