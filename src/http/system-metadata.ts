/**
 * System metadata comes as an object, or as JSON text from clients that write a proposal as a flat
 * table. The text is opened before validation, so that one schema sees both.
 */
import { CatalogError } from "../core/errors.ts";
import { jsonObject } from "../core/json.ts";
import { readJson } from "../core/json-text.ts";

/** Opens `systemMetadata` of a record (a text, or a list with texts in it). Throws `malformed`. */
export function openSystemMetadata(record: unknown): void {
  if (!jsonObject(record)) return;
  const told = record.systemMetadata;
  if (typeof told !== "string" && !Array.isArray(told)) return;
  (record as Record<string, unknown>).systemMetadata = Array.isArray(told)
    ? told.map((one) => (typeof one === "string" ? opened(one) : one))
    : opened(told);
}

/** Does it to each member of what may be an array. */
export function eachOf(list: unknown, open: (record: unknown) => void): void {
  if (Array.isArray(list)) for (const record of list) open(record);
}

function opened(text: string): unknown {
  const read = readJson(text);
  if (read.ok && jsonObject(read.value)) return read.value;
  throw new CatalogError("malformed", "systemMetadata is text that is no JSON object", {
    hint: read.ok ? "Send it as an object" : read.fault,
  });
}
