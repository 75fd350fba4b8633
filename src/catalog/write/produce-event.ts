/** Appends platform events of producers to the log. Subscribers receive them; every view ignores them. */
import { type Change, NO_RUN_ID } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { PLATFORM_EVENT, type PlatformEvent } from "../../core/platform-event.ts";
import { lastOf, type Position } from "../../core/position.ts";
import { PLATFORM_EVENTS } from "../../core/stream.ts";
import { HALF } from "../../core/urn.ts";
import { formatNumber } from "../../lib/format.ts";
import { parsedValue } from "../../lib/json.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import type { Catalog } from "../catalog.ts";
import { appendId, keyOf } from "./idempotency.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "append">;
  readonly encode: (change: Change) => Uint8Array;
  readonly systemActor: string;
  readonly now: () => number;
  /** Wakes the projector. */
  readonly onAppended: (position: Position) => void;
}

/** Maximum size of a payload: with its envelope it fits into Kafka's default message size. */
export const eventBytesMax = 1_000_000;
/** Maximum number of characters of names, keys and content types. */
const nameMax = 255;

export function createProduceEvent({
  log,
  encode,
  systemActor,
  now,
  onAppended,
}: Dependencies): Catalog["producePlatformEvent"] {
  return async (event, caller) => {
    check(event);
    const created = { time: now(), actor: caller.actor ?? systemActor };
    const change: Change = {
      ...{ urn: "", entityType: "", aspect: PLATFORM_EVENT, changeType: "UPSERT" },
      value: JSON.stringify(event),
      created,
      system: { lastObserved: created.time, runId: NO_RUN_ID },
    };
    const id = appendId(keyOf(caller, event), PLATFORM_EVENTS);
    const appended = await log.append([
      { stream: PLATFORM_EVENTS, expected: "any", records: [encode(change)], id },
    ]);
    const position = lastOf(appended);
    onAppended(position);
    return { position };
  };
}

function check({ name, key = name, header, payload }: PlatformEvent): void {
  checkText("name", name);
  checkText("key", key);
  checkText("event.payload.contentType", payload.contentType);
  // Kafka has UTF-8, which has no unpaired surrogates.
  for (const [member, text] of Object.entries({
    name,
    key,
    "event.payload.value": payload.value,
    "event.payload.contentType": payload.contentType,
  })) {
    if (text.isWellFormed()) continue;
    throw new CatalogError(
      "invalid",
      `${member} contains an unpaired surrogate, which is invalid Unicode`,
      { hint: HALF },
    );
  }
  const time = header.timestampMillis;
  if (!(Number.isSafeInteger(time) && time >= 0)) {
    throw new CatalogError("invalid", `event.header.timestampMillis is ${formatNumber(time)}`, {
      hint: "Send a whole number of milliseconds since 1970",
    });
  }
  const bytes = Buffer.byteLength(payload.value);
  if (bytes > eventBytesMax) {
    throw new CatalogError(
      "too_large",
      `event.payload.value has ${formatNumber(bytes)} bytes, more than ${formatNumber(eventBytesMax)}`,
      { hint: "Send a smaller payload, or a reference to the data" },
    );
  }
  if (payload.contentType === "application/json" && parsedValue(payload.value) === undefined) {
    throw new CatalogError("invalid", "event.payload.value is not JSON", {
      hint: "Send JSON text, or another event.payload.contentType",
    });
  }
}

function checkText(member: string, text: string): void {
  if (text !== "" && text.length <= nameMax) return;
  throw new CatalogError("invalid", `${member} has ${formatNumber(text.length)} characters`, {
    hint: `Send 1 to ${nameMax} characters`,
  });
}
