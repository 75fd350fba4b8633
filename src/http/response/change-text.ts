/**
 * Changes as text: DataHub's MetadataChangeLog as JSON with the position first. Concatenates stored
 * JSON texts, and omits absent members.
 */
import type { ChangeEntry } from "../../catalog/catalog.ts";
import type { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";

export function changeText({ change, previous }: ChangeEntry): string {
  const { position, entityType, urn, changeType, aspect, value, system, headers, created } = change;
  const members = [
    `"position":${position}`,
    `"entityType":${JSON.stringify(entityType)}`,
    `"entityUrn":${JSON.stringify(urn)}`,
    `"changeType":"${changeType}"`,
    `"aspectName":${JSON.stringify(aspect)}`,
  ];
  if (value !== undefined) members.push(`"aspect":${aspectText(value)}`);
  members.push(`"systemMetadata":${JSON.stringify(system)}`);
  if (headers !== undefined) members.push(`"headers":${JSON.stringify(headers)}`);
  if (previous !== undefined) {
    members.push(
      `"previousAspectValue":${aspectText(previous.value)}`,
      `"previousSystemMetadata":${JSON.stringify(previous.system)}`,
    );
  }
  members.push(`"created":${JSON.stringify(created)}`);
  return `{${members.join(",")}}`;
}

const LINE_ENDS = /[\r\n]+/g;

/** Line breaks in JSON occur only between tokens. */
const aspectText = (value: string): string =>
  `{"value":${value.replace(LINE_ENDS, " ")},"contentType":"application/json"}`;

/** The serialization of a change stream. */
export interface StreamForm {
  readonly type: string;
  /** First text: the position from which the stream starts. */
  readonly begin: (position: Position) => string;
  readonly change: (change: ChangeEntry) => string;
  /** Heartbeat with the position of the stream, so that a client can resume after skipped records. */
  readonly heartbeat: (position: Position) => string;
  /** Last text: the error that ends the stream after the position. */
  readonly fault: (error: CatalogError, position: Position) => string;
}

/** Reconnect delay of browsers, in milliseconds. */
const retryMs = 2_000;

/** Server-sent events. An id without data moves the resume position without an event. */
export const eventStream: StreamForm = {
  type: "text/event-stream; charset=utf-8",
  begin: (position) => `retry: ${retryMs}\nid: ${position}\n\n`,
  change: (entry) => `id: ${entry.change.position}\nevent: change\ndata: ${changeText(entry)}\n\n`,
  heartbeat: (position) => `: still here\nid: ${position}\n\n`,
  fault: ({ code, text }, position) =>
    `id: ${position}\nevent: fault\ndata: ${JSON.stringify({ code, message: text })}\n\n`,
};

/** One JSON object per line; objects with a position only are heartbeats. */
export const jsonLines: StreamForm = {
  type: "application/x-ndjson; charset=utf-8",
  begin: (position) => `{"position":${position}}\n`,
  change: (entry) => `${changeText(entry)}\n`,
  heartbeat: (position) => `{"position":${position}}\n`,
  fault: ({ code, text }, position) => `${JSON.stringify({ position, code, message: text })}\n`,
};
