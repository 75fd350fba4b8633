/** Ids of nodes are parts of job ids, which are arguments of commands. */
import { expect, test } from "vitest";
import { newNodeId } from "../../src/jobs/cluster/node-id.ts";

test("a node id does not look like a command-line flag", () => {
  const made = Array.from({ length: 2_000 }, newNodeId);
  expect(made.filter((id) => !/^\w[\w-]{21}$/.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(made.length);
});
