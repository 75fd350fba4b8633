/**
 * Clients that write a proposal as a flat table send system metadata as JSON text. It is parsed before
 * validation, so that one schema covers both forms.
 */
import { CatalogError } from "../../../core/errors.ts";
import { readJson } from "../../../core/json-text.ts";
import { jsonObject } from "../../../lib/json.ts";

/** Parses `systemMetadata` of a record (a text, or a list of texts). Throws `malformed`. */
export function openSystemMetadata(record: unknown): void {
  if (!jsonObject(record)) return;
  const sent = record.systemMetadata;
  if (typeof sent !== "string" && !Array.isArray(sent)) return;
  (record as Record<string, unknown>).systemMetadata = Array.isArray(sent)
    ? sent.map((one) => (typeof one === "string" ? opened(one) : one))
    : opened(sent);
}

/** Applies it to each member of an array. */
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
