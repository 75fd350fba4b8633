/** Tools that read the log: the history of an entity, and the changes since a point in time. */
import { z } from "zod";
import type { ChangeEntry } from "../../catalog/catalog.ts";
import { jsonDiff } from "../../core/patch/json-diff.ts";
import { position } from "../../core/position.ts";
import { isoTimeText, maxCharacters, urn } from "../arguments.ts";
import { cutValue, isoTime, parseTime } from "../results.ts";
import { defineTool, type Tool } from "../tool.ts";

const after = z
  .int()
  .min(0)
  .optional()
  .describe('The "position" of an earlier result: only later changes');
const changesCount = z.int().min(1).max(200).default(20);

const getHistory = defineTool({
  name: "get_history",
  title: "Get the history of an entity",
  description:
    "Lists the changes of an entity in the order of the log: who wrote which aspect when in which run, with the difference to the previous value as a JSON Patch. Continue with the returned position as after, until end is true.",
  input: {
    urn,
    aspects: z.array(z.string().max(200)).max(100).optional().describe("All aspects if absent"),
    after,
    count: changesCount,
    max_characters: maxCharacters,
  },
  async run({ urn, aspects, after, count, max_characters }, { catalog }) {
    const page = await catalog.readChanges({
      urns: [urn],
      aspects,
      previous: true,
      after: after === undefined ? undefined : position(after),
      limit: count,
    });
    return {
      position: page.position,
      end: page.end,
      changes: page.changes.map((entry) => changeResult(entry, max_characters)),
    };
  },
});

const getChanges = defineTool({
  name: "get_changes",
  title: "Get changes since a point in time",
  description:
    "Lists the changes of the whole catalog after a position of the log or since a time, in order. Continue with the returned position as after.",
  input: {
    after,
    since: isoTimeText.optional().describe("ISO 8601 time; ignored if after is present"),
    types: z.array(z.string().max(200)).max(100).optional().describe("Entity types"),
    aspects: z.array(z.string().max(200)).max(100).optional(),
    count: changesCount,
    max_characters: maxCharacters,
  },
  async run({ after, since, types, aspects, count, max_characters }, { catalog }) {
    const page = await catalog.readChanges({
      entityTypes: types,
      aspects,
      previous: true,
      after: after === undefined ? undefined : position(after),
      since: since === undefined ? undefined : parseTime("since", since),
      limit: count,
    });
    return {
      position: page.position,
      changes: page.changes.map((entry) => changeResult(entry, max_characters)),
    };
  },
});

function changeResult({ change, previous }: ChangeEntry, charactersMax: number) {
  const before: unknown = previous === undefined ? undefined : JSON.parse(previous.value);
  const value: unknown = change.value === undefined ? undefined : JSON.parse(change.value);
  const differs = before !== undefined && value !== undefined;
  return {
    position: change.position,
    urn: change.urn,
    aspect: change.aspect,
    change: change.changeType,
    written_by: change.created.actor,
    written_at: isoTime(change.created.time),
    run: change.system.runId,
    difference: differs ? cutValue(jsonDiff(before, value), charactersMax) : undefined,
    value: differs || value === undefined ? undefined : cutValue(value, charactersMax),
    previous_value:
      value === undefined && before !== undefined ? cutValue(before, charactersMax) : undefined,
  };
}

export const changeTools: readonly Tool[] = [getHistory, getChanges];
