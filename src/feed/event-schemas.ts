/**
 * The Avro schemas of events as the service itself writes and reads them, with their ids: avro/events.
 *
 * An id belongs to one schema for ever, since messages name it. The ids are the reference's for
 * schemas that are the same on the wire, so that what it wrote to a topic is read beside ours.
 */
import { readFileSync } from "node:fs";
import { assert } from "../core/errors.ts";
import { topics } from "./topic-names.ts";

export { topics };

export interface EventSchema {
  readonly id: number;
  /** Ids under which others have written messages of the same schema. */
  readonly alsoRead: readonly number[];
  /** The schema as compact JSON text. */
  readonly text: string;
  /** In the registry: `<topic>-value`. */
  readonly subjects: readonly string[];
}

/** Ids from here on are given to what others register; those below are the service's own. */
export const foreignIdsFrom = 1_000;

const directory = new URL("../../avro/events/", import.meta.url);

const readText = (name: string): string => readFileSync(new URL(name, directory), "utf8");

interface Listed {
  readonly id: number;
  readonly schema: string;
  readonly subjects: readonly string[];
  readonly alsoRead?: readonly number[];
}

/** As they are listed: the last one of a topic is what is written. */
export const eventSchemas: readonly EventSchema[] = (
  JSON.parse(readText("registry.json")) as readonly Listed[]
).map(({ id, schema, subjects, alsoRead = [] }) => ({
  id,
  alsoRead,
  subjects,
  text: JSON.stringify(JSON.parse(readText(schema))),
}));

/** What messages of a topic are written with now. */
export function schemaOfTopic(topic: string): EventSchema {
  const found = eventSchemas.findLast(({ subjects }) => subjects.includes(`${topic}-value`));
  assert(found !== undefined, `the topic "${topic}" has a schema`);
  return found;
}
