/**
 * Restores the edges that `DELETE /relationships` removed although an entity's aspects still
 * declare them. The restore is a record of the log, like the removal: it appends the aspect's value
 * again with RESTATE, so that every rebuild of the graph gives the same edges.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { AspectCommand } from "../../core/decide.ts";
import { CatalogError } from "../../core/errors.ts";
import { EMPTY_STREAM, type Position, START } from "../../core/position.ts";
import { entityStream, type StreamName } from "../../core/stream.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { changesOf } from "../../log/whole-reads.ts";
import type { Projection } from "../../projector/sink.ts";
import type { GraphWrite } from "../../views/graph/graph.ts";
import type { Addresses } from "../address.ts";
import type { Ingestion } from "../write/ingest.ts";

/** The graph projection (projections/graph/graph.ts), and the streams that remove edges. */
export interface StatedEdges {
  readonly project: Projection<GraphWrite>;
  /** Streams of the requests that remove edges of a write. */
  readonly removalsOf: (write: GraphWrite) => readonly StreamName[];
  /** Prefix of the names of all such streams. */
  readonly removalsPrefix: string;
}

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream" | "listStreams">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly edges: StatedEdges;
  readonly addresses: Pick<Addresses, "isKnown">;
  readonly ingestion: Pick<Ingestion, "rollBack">;
}

type Replace = Extract<GraphWrite, { op: "replace" }>;

const attemptsMax = 10;

/** Takes the names of aspects by urn; returns the number of aspects whose edges were restored. */
export type RestoreEdges = (aspects: ReadonlyMap<string, ReadonlySet<string>>) => Promise<number>;

/**
 * Appends a restatement of each of the aspects that states removed edges. Throws `conflict` when
 * other writers win `attemptsMax` races for an entity.
 */
export function createRestoreEdges(dependencies: Dependencies): RestoreEdges {
  const { log, decode, edges, addresses, ingestion } = dependencies;

  /** Position of the last record that removes an edge of the write; START when there is none. */
  async function removedAt(write: Replace): Promise<Position> {
    let last = START;
    for (const stream of edges.removalsOf(write)) {
      const [record] = await log.readStream(stream, "end", { limit: 1, backward: true });
      if (record !== undefined && record.position > last) last = record.position;
    }
    return last;
  }

  /** The last write of an entity's edges for each aspect, and the revision at the end of its stream. */
  async function statedBy(urn: string) {
    const stated = new Map<string, Replace>();
    let revision = EMPTY_STREAM;
    for await (const change of changesOf(log, decode, entityStream(urn))) {
      revision = change.revision;
      for (const write of edges.project(change)) {
        if (write.op === "replace") stated.set(write.aspect, write);
        else stated.clear();
      }
    }
    return { writes: [...stated.values()], revision };
  }

  async function restore(urn: string, aspects: ReadonlySet<string>): Promise<number> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const { writes, revision } = await statedBy(urn);
      const commands: AspectCommand[] = [];
      for (const write of writes.filter(({ aspect }) => aspects.has(aspect))) {
        if ((await removedAt(write)) > write.position) commands.push(restatement(write.aspect));
      }
      if (commands.length === 0) return 0;
      const decided = { revision, commands, events: [], eventRevisions: new Map() };
      if ((await ingestion.rollBack(urn, decided, {})) !== undefined) return commands.length;
    }
    throw new CatalogError("conflict", `lost the race for "${urn}" ${attemptsMax} times`, {
      hint: "Send the request again: edges restored so far stay restored",
    });
  }

  return async (aspects) => {
    const removals = await log.listStreams(edges.removalsPrefix, { limit: 1 });
    if (removals.length === 0) return 0;
    let count = 0;
    for (const [urn, names] of aspects) {
      // An entity of a type that the model lacks cannot be written.
      if (addresses.isKnown(urn)) count += await restore(urn, names);
    }
    return count;
  };
}

const restatement = (aspect: string): AspectCommand => ({
  aspect,
  kind: "restate",
  schemaVersion: 1,
  system: {},
  conditions: {},
  label: "",
});
