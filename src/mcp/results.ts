/** Results of tools: JSON texts, small enough for the context of a model. */
import { CatalogError } from "../core/errors.ts";
import { RejectedMutation } from "./tool.ts";

/** The form of the protocol; the text repeats the structured content for older clients. */
interface ToolResult {
  [member: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Absent members are omitted. */
export function successResult(result: object): ToolResult {
  const text = JSON.stringify(result);
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
}

/** The code, message and hint of a CatalogError, or the message of a mutation; no details of other errors. */
export function failureResult(error: unknown): ToolResult {
  let text = "internal: internal error; the log of the service has the details";
  if (error instanceof RejectedMutation) text = error.message;
  if (error instanceof CatalogError && error.code !== "internal") {
    text = `${error.code}: ${error.text}`;
  }
  return { content: [{ type: "text", text }], isError: true };
}

/** A value that is longer than the limit as JSON, replaced by its size and beginning. */
export function cutValue(value: unknown, charactersMax: number): unknown {
  const text = JSON.stringify(value) ?? "null";
  if (text.length <= charactersMax) return value;
  return {
    omitted: `${text.length} characters; the limit is ${charactersMax} (argument max_characters)`,
    beginning: text.slice(0, Math.min(charactersMax, 500)),
  };
}

/** An ISO 8601 time in UTC. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

/** Epoch milliseconds of an ISO 8601 time; `malformed` for other texts. */
export function parseTime(name: string, text: string): number {
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw new CatalogError("malformed", `${name} is "${text.slice(0, 60)}"`, {
    hint: "Send an ISO 8601 time such as 2026-03-01T12:00:00Z",
  });
}
