/** What differs in a view that is read in parts is looked at again (verify/patient-hands.ts). */
import { describe, expect, test } from "vitest";
import { createFitting } from "../../src/projector/fitting.ts";
import type { Difference } from "../../src/projector/verify/differences.ts";
import type { Hands } from "../../src/projector/verify/hands.ts";
import { patientHands } from "../../src/projector/verify/patient-hands.ts";

const differenceOf = (view: string, urn: string): Difference => ({
  ...{ view, urn, aspect: "status", kind: "different" },
});

/** Each view's entities differ so many times. */
function handsOf(times: Readonly<Record<string, number>>) {
  const looks: string[][] = [];
  const left = new Map(Object.entries(times));
  const hands = {
    count: 1,
    async verify({ entities }: { readonly entities: readonly { readonly urn: string }[] }) {
      const asked = entities.map(({ urn }) => urn);
      looks.push(asked);
      const differences = [...left].flatMap(([key, count]) => {
        const [view = "", urn = ""] = key.split(" ");
        if (!asked.includes(urn) || count === 0) return [];
        left.set(key, count - 1);
        return [differenceOf(view, urn)];
      });
      return { records: asked.length, differences };
    },
    close: async () => {},
  } as unknown as Hands;
  return { hands, looks };
}

async function differing(hands: Hands, urns: readonly string[]): Promise<readonly string[]> {
  const batch = { views: ["search", "aspects"], entities: urns.map((urn) => ({ urn })) };
  const done = await hands.verify(batch as unknown as Parameters<Hands["verify"]>[0]);
  expect(done.records).toBe(urns.length);
  return done.differences.map(({ view, urn }) => `${view} ${urn}`);
}

describe("what differs in a view that is read in parts", () => {
  const inParts = new Set(["search"]);

  test("is left out when it does not differ the next time", async () => {
    const { hands, looks } = handsOf({ "search a": 1, "search b": 2 });
    expect(await differing(patientHands(hands, inParts), ["a", "b", "c"])).toEqual([]);
    expect(looks).toEqual([["a", "b", "c"], ["a", "b"], ["b"]]);
  });

  test("is told when it differs each time, and at once when it is seen again", async () => {
    const { hands, looks } = handsOf({ "search a": 1_000 });
    const patient = patientHands(hands, inParts);
    expect(await differing(patient, ["a", "b"])).toEqual(["search a"]);
    const before = looks.length;
    expect(before).toBeGreaterThan(2);
    expect(await differing(patient, ["a"])).toEqual(["search a"]);
    expect(looks.length).toBe(before + 1);
  });

  test("is no matter of other views: what differs there is told as it was found", async () => {
    const { hands, looks } = handsOf({ "aspects a": 1, "search b": 1 });
    expect(await differing(patientHands(hands, inParts), ["a", "b"])).toEqual(["aspects a"]);
    expect(looks).toEqual([["a", "b"], ["b"]]);
  });
});

test("less is asked for after an answer that ended early, and then more again", () => {
  const fitting = createFitting(8);
  const wanted = Array.from({ length: 20 }, (_, n) => n);
  const asked = () => fitting.first(wanted).length;
  expect(asked()).toBe(8);
  fitting.note(3, false);
  expect(asked()).toBe(3);
  fitting.note(0, false);
  expect(asked()).toBe(1);
  for (const expected of [2, 4, 8, 8]) {
    fitting.note(asked(), true);
    expect(asked()).toBe(expected);
  }
});
