/**
 * The difference of two JSON values as a JSON Patch (RFC 6902) that makes the second of the first.
 */
import { jsonObject } from "../../lib/json.ts";
import { appendAll } from "../../lib/lists.ts";
import { sameJson } from "../../lib/same-json.ts";

export interface JsonDiffOperation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: unknown;
}

/** Compares lists index by index. */
export function jsonDiff(before: unknown, after: unknown, path = ""): readonly JsonDiffOperation[] {
  if (sameJson(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listDiff(before, after, path);
  if (!jsonObject(before) || !jsonObject(after)) return [{ op: "replace", path, value: after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly JsonDiffOperation[] => {
    const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!Object.hasOwn(after, name)) return [{ op: "remove", path: at }];
    if (!Object.hasOwn(before, name)) return [{ op: "add", path: at, value: after[name] }];
    // Safe lookup: both objects have the member, as checked above.
    return jsonDiff(before[name], after[name], at);
  });
}

function listDiff(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): readonly JsonDiffOperation[] {
  const both = Math.min(before.length, after.length);
  const operations: JsonDiffOperation[] = [];
  for (let i = 0; i < both; i++)
    appendAll(operations, jsonDiff(before[i], after[i], `${path}/${i}`));
  // Removes from the end, so that earlier indexes stay valid.
  for (let i = before.length - 1; i >= both; i--)
    operations.push({ op: "remove", path: `${path}/${i}` });
  for (const value of after.slice(both)) operations.push({ op: "add", path: `${path}/-`, value });
  return operations;
}
