import { describe, expect, test } from "vitest";
import { projectFeed } from "../../projections/feed.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import type { AspectCommand } from "../../src/core/decide.ts";
import { decide } from "../../src/core/decide.ts";
import { type EntityState, unknownEntity } from "../../src/core/entity-state.ts";
import { type Position, position, revision, START } from "../../src/core/position.ts";
import type { ChangeEvent } from "../../src/feed/change-event.ts";
import { createFeedView, fillPrevious } from "../../src/feed/previous-values.ts";

const urn = "urn:li:tag:a";

/** Changes as the decider returns them, one request after the other. */
function decided(...requests: readonly Partial<AspectCommand>[]): readonly PlacedChange[] {
  let state: EntityState = unknownEntity(urn);
  const changes: PlacedChange[] = [];
  for (const [i, request] of requests.entries()) {
    const command: AspectCommand = {
      ...{ aspect: "note", kind: "put", schemaVersion: 1, system: { runId: `run-${i}` } },
      ...{ conditions: {}, label: "", ...request },
    };
    const decision = decide(state, [command], {
      ...{ entityType: "tag", keyAspect: "tagKey", systemActor: "urn:li:corpuser:s" },
      created: { time: i + 1, actor: "urn:li:corpuser:a" },
      defaultAspects: () => [
        { aspect: "tagKey", validated: settled({ name: "a" }), schemaVersion: 1 },
      ],
    });
    for (const change of decision.changes) {
      const at = changes.length;
      changes.push({
        ...{ ...change, position: position(at + 1), revision: revision(at), timeseries: false },
      });
    }
    state = decision.next;
  }
  return changes;
}

const settled = (value: Record<string, unknown>) => ({ value, text: JSON.stringify(value) });
const put = (text: string): Partial<AspectCommand> => ({ value: settled({ text }) });

/** The aspect view after the changes, up to a position. */
function historyOf(changes: readonly PlacedChange[], upTo: number) {
  const asked: string[] = [];
  return {
    asked,
    position: async () => position(upTo),
    getEntities: async (urns: readonly string[]) => urns.map(unknownEntity),
    async findValue(of: string, aspect: string, version: number) {
      asked.push(`${aspect} ${version}`);
      const ofVersion = changes.filter(
        (change) =>
          change.urn === of &&
          change.aspect === aspect &&
          change.position <= upTo &&
          change.changeType !== "DELETE" &&
          change.system.version === String(version),
      );
      const made = ofVersion.find(({ changeType }) => changeType === "UPSERT");
      if (made?.value === undefined) return undefined;
      const system = JSON.stringify(ofVersion.at(-1)?.system);
      return { version, value: made.value, ...made.created, system };
    },
    close: async () => undefined,
  };
}

const eventsOf = (changes: readonly PlacedChange[]) => changes.flatMap(projectFeed);

const shown = (events: readonly ChangeEvent[]) =>
  events.map(({ change, previous }) => [
    `${change.changeType} ${change.aspect} ${change.system.version}`,
    previous && `${previous.value} ${previous.system.runId}`,
  ]);

describe("the previous value of a change", () => {
  test("an upsert and a deletion have the previous value of the aspect with its latest system metadata", async () => {
    const changes = decided(put("one"), put("one"), put("two"), { kind: "delete" }, put("three"));
    const history = historyOf(changes, changes.length);
    expect(shown(await fillPrevious(eventsOf(changes), history, "x"))).toEqual([
      ["UPSERT tagKey 1", undefined],
      ["UPSERT note 1", undefined],
      // The second request wrote the same value again.
      ["UPSERT note 2", '{"text":"one"} run-1'],
      ["DELETE note 2", '{"text":"two"} run-2'],
      // The aspect had no value just before.
      ["UPSERT note 3", undefined],
    ]);
    expect(history.asked).toEqual(["note 1", "note 2"]);
  });

  test("the deletion of an entity has the previous value of the key aspect", async () => {
    const changes = decided(put("one"), { kind: "delete", aspect: "tagKey" }, put("two"));
    const history = historyOf(changes, changes.length);
    expect(shown(await fillPrevious(eventsOf(changes), history, "x"))).toEqual([
      ["UPSERT tagKey 1", undefined],
      ["UPSERT note 1", undefined],
      ["DELETE tagKey 1", '{"name":"a"} run-0'],
      ["UPSERT tagKey 2", undefined],
      ["UPSERT note 2", undefined],
    ]);
  });

  test("timeseries changes have no previous value and do not wait for the aspect view", async () => {
    const [, event] = eventsOf(decided(put("one")));
    const history = historyOf([], 0);
    const change = { ...event?.change, timeseries: true } as PlacedChange;
    expect(await fillPrevious([{ change }], history, "x")).toEqual([{ change }]);
    expect(history.asked).toEqual([]);
  });

  test("a change waits for the aspect view, and has no previous value if the history lacks it", async () => {
    const changes = decided(put("one"), put("two"));
    await expect(fillPrevious(eventsOf(changes), historyOf(changes, 2), "it")).rejects.toThrow(
      "it waits for the aspect view, which is at position 2 of 3",
    );
    const empty = historyOf([], 3);
    expect(shown(await fillPrevious(eventsOf(changes), empty, "x")).at(-1)).toEqual([
      "UPSERT note 2",
      undefined,
    ]);
  });
});

describe("a feed view", () => {
  const openFeed = (changes: readonly PlacedChange[], upTo: number) => {
    const applied: (readonly [unknown, Position])[] = [];
    const closed: string[] = [];
    const view = createFeedView({
      name: "kafka",
      project: projectFeed,
      sink: {
        apply: async (events, at) => void applied.push([shown(events), at]),
        restore: async () => expect.unreachable(),
        position: async () => applied.at(-1)?.[1] ?? START,
        reset: async () => void applied.splice(0),
        close: async (outcome) => void closed.push(`sink ${outcome}`),
      },
      history: { ...historyOf(changes, upTo), close: async () => void closed.push("history") },
    });
    return { view, applied, closed };
  };

  test("the sink receives whole events and the position that they reach", async () => {
    const changes = decided(put("one"), put("two"));
    const { view, applied } = openFeed(changes, 3);
    await view.sink.apply(eventsOf(changes).slice(2), position(9));
    expect(applied).toEqual([[[["UPSERT note 2", '{"text":"one"} run-0']], 9]]);
    expect(await view.sink.position()).toBe(9);
  });

  test("the sink receives nothing while the aspect view is behind", async () => {
    const changes = decided(put("one"), put("two"));
    const { view, applied } = openFeed(changes, 1);
    await expect(view.sink.apply(eventsOf(changes), position(9))).rejects.toMatchObject({
      code: "unavailable",
      message: 'the view "kafka" waits for the aspect view, which is at position 1 of 3',
    });
    expect(applied).toEqual([]);
  });

  test("a restore does nothing, and a close also closes the history", async () => {
    const { view, closed } = openFeed([], 1);
    await view.sink.restore(urn, []);
    await view.sink.close("keep");
    expect(closed).toEqual(["sink keep", "history"]);
  });
});
