/**
 * The service's own Avro schemas of events, with their ids: avro/events.
 *
 * Messages contain schema ids, so the schema of an id never changes. Schemas that are equal on the
 * wire have DataHub's ids, so that the service can read topics that DataHub wrote.
 */
import { readFileSync } from "node:fs";
import { assert } from "../core/errors.ts";
import { topics } from "./topic-names.ts";

export { topics };

interface EventSchema {
  readonly id: number;
  /** Other ids of the same schema in messages. */
  readonly alsoRead: readonly number[];
  /** The schema as compact JSON text. */
  readonly text: string;
  /** In the registry: `<topic>-value`. */
  readonly subjects: readonly string[];
}

/** First id for schemas of clients; ids below are the service's own. */
export const foreignIdsFrom = 1_000;

const directory = new URL("../../avro/events/", import.meta.url);

const readText = (name: string): string => readFileSync(new URL(name, directory), "utf8");

interface Listed {
  readonly id: number;
  readonly schema: string;
  readonly subjects: readonly string[];
  readonly alsoRead?: readonly number[];
}

/** In order; the last one of a topic is the writer's schema. */
export const eventSchemas: readonly EventSchema[] = (
  JSON.parse(readText("registry.json")) as readonly Listed[]
).map(({ id, schema, subjects, alsoRead = [] }) => ({
  id,
  alsoRead,
  subjects,
  text: JSON.stringify(JSON.parse(readText(schema))),
}));

/** The writer's schema of a topic. */
export function schemaOfTopic(topic: string): EventSchema {
  const found = eventSchemas.findLast(({ subjects }) => subjects.includes(`${topic}-value`));
  assert(found !== undefined, `the topic "${topic}" has a schema`);
  return found;
}
