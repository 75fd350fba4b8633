/**
 * Changes as text: the reference's MetadataChangeLog as JSON, its values as JSON in it, with the
 * position in front. Put together from texts that are JSON already; what is absent is left out.
 */
import type { ChangeEntry } from "../catalog/catalog.ts";
import type { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";

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

/** A line break in JSON stands between its parts alone. */
const aspectText = (value: string): string =>
  `{"value":${value.replace(LINE_ENDS, " ")},"contentType":"application/json"}`;

/** How a stream of changes is written. */
export interface StreamForm {
  readonly type: string;
  /** First of all: the position from which the stream goes on. */
  readonly begin: (position: Position) => string;
  readonly change: (change: ChangeEntry) => string;
  /** A sign of life, and how far the stream is: what it left out need not be looked at again. */
  readonly heartbeat: (position: Position) => string;
  /** Last of all: why nothing more follows after the position. */
  readonly fault: (error: CatalogError, position: Position) => string;
}

/** How long a browser waits before it connects anew, in milliseconds. */
const retryMs = 2_000;

/** Events of the web: a position without data moves the place to resume from, and wakes nobody. */
export const eventStream: StreamForm = {
  type: "text/event-stream; charset=utf-8",
  begin: (position) => `retry: ${retryMs}\nid: ${position}\n\n`,
  change: (told) => `id: ${told.change.position}\nevent: change\ndata: ${changeText(told)}\n\n`,
  heartbeat: (position) => `: still here\nid: ${position}\n\n`,
  fault: ({ code, text }, position) =>
    `id: ${position}\nevent: fault\ndata: ${JSON.stringify({ code, message: text })}\n\n`,
};

/** A JSON object a line; those with nothing but a position are signs of life. */
export const jsonLines: StreamForm = {
  type: "application/x-ndjson; charset=utf-8",
  begin: (position) => `{"position":${position}}\n`,
  change: (told) => `${changeText(told)}\n`,
  heartbeat: (position) => `{"position":${position}}\n`,
  fault: ({ code, text }, position) => `${JSON.stringify({ position, code, message: text })}\n`,
};
