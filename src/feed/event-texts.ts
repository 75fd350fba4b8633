/**
 * Formats events in Avro's JSON encoding, where the name of its type wraps a member of a union. DataHub's
 * clients that poll for events instead of consuming topics read this format.
 */
import avro, { type Schema } from "avsc";
import type { PlatformEvent } from "../catalog/catalog.ts";
import { type ChangeEvent, changeLogOf, JSON_TYPE } from "./change-event.ts";
import { schemaOfTopic, topics } from "./event-schemas.ts";

export interface EventTexts {
  /** A MetadataChangeLog. */
  change(event: ChangeEvent): string;
  platformEvent(event: PlatformEvent): string;
}

export function createEventTexts(): EventTexts {
  const types = new Map<string, avro.Type>();
  /** Compiled with the first event: most services are never polled. */
  function typeOf(topic: string): avro.Type {
    const type =
      types.get(topic) ?? avro.Type.forSchema(JSON.parse(schemaOfTopic(topic).text) as Schema);
    types.set(topic, type);
    return type;
  }

  return {
    change: (event) => textOf(typeOf(topics.versioned), changeLogOf(event, jsonBytes)),

    platformEvent({ name, header, payload: { value, contentType } }) {
      const bytes = contentType === JSON_TYPE ? jsonBytes(value) : Buffer.from(value);
      const payload = { value: bytes, contentType };
      return textOf(typeOf(topics.platformEvents), { header, name, payload });
    },
  };
}

/** Absent members take the default of the schema, null. */
const textOf = (type: avro.Type, record: unknown): string => type.toString(record as object);

/** This encoding writes bytes as Latin-1 text, so characters of JSON beyond ASCII become escapes. */
const jsonBytes = (json: string): Buffer =>
  Buffer.from(
    json.replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
    "latin1",
  );
