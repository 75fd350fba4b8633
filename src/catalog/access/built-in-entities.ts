/**
 * The entities that every catalog has from its first start: data platforms, data types, ownership types,
 * roles, policies, the home page and the root user of avro/built-in-entities.json, and one `entityType`
 * for each entity type of the model. They are ordinary entities, written by the system actor. A user
 * may change or delete most of them (auth/access/undeletable-entities.ts). A later start writes only those without a stream in the log.
 */
import { readFileSync } from "node:fs";
import { CatalogError } from "../../core/errors.ts";
import { revision } from "../../core/position.ts";
import { entityStream } from "../../core/stream.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Model } from "../../model/model.ts";
import { type HistoryLog, readBeginnings } from "../../projector/history.ts";
import type { Catalog, Proposal } from "../catalog.ts";

export interface BuiltInEntity {
  readonly urn: string;
  readonly entityType: string;
  readonly aspect: string;
  readonly value: object;
}

interface Definition {
  readonly entityType: string;
  readonly aspect: string;
  /** Values of the aspect by the last part of the urn. */
  readonly entities: Readonly<Record<string, object>>;
}

const FILE = new URL("../../../avro/built-in-entities.json", import.meta.url);

/**
 * The built-in entities whose types the model has, with urns of the namespace. Those of stampedTypes get
 * the stamp of their creation: `time` in epoch milliseconds, `actor` as a urn.
 */
export function readBuiltInEntities(
  model: Pick<Model, "entities">,
  namespace: string,
  stamp: { readonly time: number; readonly actor: string },
): readonly BuiltInEntity[] {
  const text = readFileSync(FILE, "utf8").replaceAll('"urn:li:', `"urn:${namespace}:`);
  const definitions = [...(JSON.parse(text) as readonly Definition[]), entityTypesOf(model)];
  return definitions
    .filter(({ entityType, aspect }) => model.entities.get(entityType)?.aspects.includes(aspect))
    .flatMap(({ entityType, aspect, entities }) => {
      const stamps = stampedTypes.has(entityType) ? { created: stamp, lastModified: stamp } : {};
      return Object.entries(entities).map(([id, value]) => ({
        urn: `urn:${namespace}:${entityType}:${id}`,
        entityType,
        aspect,
        value: { ...value, ...stamps },
      }));
    });
}

const stampedTypes: ReadonlySet<string> = new Set([
  ...["ownershipType", "dataHubPageModule", "dataHubPageTemplate"],
]);

const entityTypesOf = ({ entities }: Pick<Model, "entities">): Definition => ({
  entityType: "entityType",
  aspect: "entityTypeInfo",
  entities: Object.fromEntries(
    [...entities.keys()].map((name) => {
      const qualifiedName = `datahub.${name}`;
      return [qualifiedName, { qualifiedName, displayName: name }];
    }),
  ),
});

type StreamReads = Pick<HistoryLog, "readStream" | "readBeginnings">;

/** Number of streams that are read concurrently. */
const readsMax = 32;

/**
 * Appends the entities without a stream in the log; returns their number. When several nodes start at the
 * same time, the node that creates the first entity also writes the others. Throws CatalogError of the
 * log or the catalog.
 */
export async function writeBuiltInEntities(
  entities: readonly BuiltInEntity[],
  { log, catalog }: { log: StreamReads; catalog: Pick<Catalog, "ingest"> },
): Promise<number> {
  const missing = await missingIn(log, entities);
  const [first, ...others] = missing.map(creationOf);
  if (first === undefined) return 0;
  try {
    await catalog.ingest([first], {});
  } catch (error) {
    // CREATE is rejected if another node has created the entity since the streams were read.
    if (error instanceof CatalogError && error.code === "invalid") return 0;
    throw error;
  }
  if (others.length > 0) await catalog.ingest(others, {});
  return missing.length;
}

async function missingIn(
  log: StreamReads,
  entities: readonly BuiltInEntity[],
): Promise<readonly BuiltInEntity[]> {
  const missing: BuiltInEntity[] = [];
  const streams = entities.map(({ urn }) => entityStream(urn));
  const beginnings = await readBeginnings(log, streams, 1);
  for (let from = 0; from < entities.length; from += readsMax) {
    const first = await Promise.all(
      streams
        .slice(from, from + readsMax)
        .map((name) => beginnings.get(name) ?? log.readStream(name, revision(0), { limit: 1 })),
    );
    const some = entities.slice(from, from + readsMax);
    appendAll(
      missing,
      some.filter((_, i) => first[i]?.length === 0),
    );
  }
  return missing;
}

const creationOf = ({ urn, entityType, aspect, value }: BuiltInEntity): Proposal => ({
  entityType,
  entityUrn: urn,
  changeType: "CREATE",
  aspectName: aspect,
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
});
