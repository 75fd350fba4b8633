/** Ids of nodes are given to commands as parts of the ids of jobs. */
import { expect, test } from "vitest";
import { newNodeId } from "../../src/jobs/cluster/node-id.ts";

test("an id of a node is never taken for a flag", () => {
  const made = Array.from({ length: 2_000 }, newNodeId);
  expect(made.filter((id) => !/^\w[\w-]{21}$/.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(made.length);
});
