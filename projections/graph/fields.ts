/**
 * Extracts edges between fields: column lineage. Their source is not the entity that states them.
 * DataHub defines them in code, not in annotations, so each aspect has a function here.
 *
 *   upstreamLineage, dataJobInputOutput   each downstream of an entry   DownstreamOf   each upstream
 *   inputFields                           the entity's own field        DownstreamOf   the field it shows
 */
import { type JsonObject, objectOf, objectsIn, stringsIn } from "../../src/lib/json.ts";
import type { EdgeList } from "./edges.ts";

type AddFieldEdges = (urn: string, value: JsonObject, list: EdgeList) => void;

/** By aspect. */
export const fieldEdges: ReadonlyMap<string, AddFieldEdges> = new Map([
  ["upstreamLineage", (urn, value, list) => addPairs(urn, value, list, viaQuery)],
  ["dataJobInputOutput", (urn, value, list) => addPairs(urn, value, list, viaEntity)],
  ["inputFields", addInputFields],
] satisfies [string, AddFieldEdges][]);

const TYPE = "DownstreamOf";

/**
 * Maximum number of pairs of one aspect; further pairs are ignored. An entry connects all its
 * downstreams with all its upstreams, so a value of a few megabytes could have billions of pairs.
 */
export const fieldPairsMax = 100_000;

type Via = (urn: string, entry: JsonObject) => string | undefined;

const viaEntity: Via = (urn) => urn;
const viaQuery: Via = (_, { query }) => (typeof query === "string" ? query : undefined);

function addPairs(urn: string, value: JsonObject, list: EdgeList, viaOf: Via): void {
  let pairs = 0;
  for (const entry of objectsIn(value.fineGrainedLineages)) {
    const via = viaOf(urn, entry);
    const upstreams = texts(entry.upstreams);
    for (const source of texts(entry.downstreams)) {
      for (const destination of upstreams) {
        if (++pairs > fieldPairsMax) return;
        const path = "/fineGrainedLineages/*";
        list.add({ source, type: TYPE, destination, path, ...(via !== undefined && { via }) });
      }
    }
  }
}

function addInputFields(urn: string, value: JsonObject, list: EdgeList): void {
  for (const { schemaFieldUrn: destination, schemaField } of objectsIn(value.fields)) {
    const { fieldPath } = objectOf(schemaField);
    if (typeof destination !== "string" || typeof fieldPath !== "string") continue;
    list.add({ source: fieldUrn(urn, fieldPath), type: TYPE, destination, path: "/fields/*" });
  }
}

/** The urn of an entity's field. Brackets and commas are percent-encoded, as producers do. */
function fieldUrn(urn: string, fieldPath: string): string {
  const namespace = urn.split(":", 2)[1];
  const id = fieldPath.replace(/[(),]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `urn:${namespace}:schemaField:(${urn},${id})`;
}

const texts = (value: unknown): readonly string[] => stringsIn(value).filter((text) => text !== "");
