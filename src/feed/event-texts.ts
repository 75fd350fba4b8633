/**
 * Formats events in Avro's JSON encoding, where the name of its type wraps a member of a union. DataHub's
 * clients that poll for events instead of consuming topics read this format.
 */
import avro, { type Schema } from "avsc";
import type { PlatformEvent } from "../catalog/catalog.ts";
import type { ChangeEvent } from "./change-event.ts";
import { schemaOfTopic, topics } from "./event-schemas.ts";

export interface EventTexts {
  /** A MetadataChangeLog. */
  change(event: ChangeEvent): string;
  platformEvent(event: PlatformEvent): string;
}

const CONTENT_TYPE = "application/json";

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
    change({ change, previous }) {
      const { entityType, urn, changeType, aspect, value, system, headers, created } = change;
      return textOf(typeOf(topics.versioned), {
        entityType,
        entityUrn: urn,
        changeType,
        aspectName: aspect,
        aspect: generic(value),
        systemMetadata: system,
        headers,
        created,
        previousAspectValue: generic(previous?.value),
        previousSystemMetadata: previous?.system,
      });
    },

    platformEvent({ name, header, payload: { value, contentType } }) {
      const payload = { value: bytesOf({ value, contentType }), contentType };
      return textOf(typeOf(topics.platformEvents), { header, name, payload });
    },
  };
}

/** Absent members take the default of the schema, null. */
const textOf = (type: avro.Type, record: unknown): string => type.toString(record as object);

const generic = (json: string | undefined) =>
  json === undefined
    ? undefined
    : { value: bytesOf({ value: json, contentType: CONTENT_TYPE }), contentType: CONTENT_TYPE };

/** This encoding writes bytes as Latin-1 text, so characters of JSON beyond ASCII become escapes. */
const bytesOf = ({ value, contentType }: PlatformEvent["payload"]): Buffer =>
  contentType === CONTENT_TYPE ? Buffer.from(ascii(value), "latin1") : Buffer.from(value);

const ascii = (json: string): string =>
  json.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
