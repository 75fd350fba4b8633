/**
 * The metadata of a view in Elasticsearch: its checkpoint and its generations.
 *
 * One document per view has the checkpoint and the number of the live generation. It is changed by
 * compare and set, so a second projector gets a conflict and reads it again. It is written after
 * the documents that it covers are searchable.
 *
 * Readers use aliases, which move from one generation to the next atomically. The metadata is
 * updated after the aliases, and the old indices are deleted last; the next writer completes an
 * interrupted change.
 */
import { randomUUID } from "node:crypto";
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import type { ServerAddress } from "../view-origin.ts";
import { type SearchServer, statusOf, typeOfError } from "./client.ts";

/** The shape of one kind of view. */
export interface ViewShape<Kept> {
  readonly view: string;
  /** Incremented with every change of the documents; a view of another version is rejected. */
  readonly version: number;
  /** The `kept` data of an empty view. */
  readonly empty: Kept;
  /** Mappings and settings of an index. */
  readonly index: Pick<estypes.IndicesCreateRequest, "mappings" | "settings">;
  /** The filter of readers on a partition; undefined: none. */
  readonly visible?:
    | ((partition: string, kept: Kept) => estypes.QueryDslQueryContainer | undefined)
    | undefined;
}

export interface StoredViewState<Kept> {
  readonly version: number;
  readonly generation: number;
  readonly position: Position;
  /** Partitions (names.ts) that have an index, under their stored name. */
  readonly places: readonly string[];
  /** Fingerprint of the model, and id of the log, that it was built from; null: unknown. */
  readonly model: string | null;
  readonly log: string | null;
  readonly kept: Kept;
  /** Name of the record at the position; absent when the view has none. */
  readonly record?: string | undefined;
}

/** A state and its version in the server, for compare and set. */
export interface FoundState<Kept> {
  readonly state: StoredViewState<Kept>;
  readonly revision: { readonly if_seq_no: number; readonly if_primary_term: number };
  /** Id of the writer. */
  readonly writer: string;
}

export interface ViewMetadata<Kept> {
  /** Undefined if the view has no metadata. */
  find(): Promise<FoundState<Kept> | undefined>;
  /** Creates the metadata. If another writer has created them first, returns these. */
  create(state: StoredViewState<Kept>): Promise<FoundState<Kept>>;
  /** Rejects `conflict` if they have changed since `found` was read. */
  replace(found: FoundState<Kept>, state: StoredViewState<Kept>): Promise<FoundState<Kept>>;
}

const CONFLICT = 409;
const NOT_FOUND = 404;

export function createMetadata<Kept>(
  server: SearchServer,
  { view }: Pick<ViewShape<Kept>, "view">,
  { name }: Pick<ServerAddress, "name">,
): ViewMetadata<Kept> {
  const alias = `${name}.views`;
  const index = `${alias}.1`;
  const mappings = { dynamic: false } as const;

  async function find(): Promise<FoundState<Kept> | undefined> {
    try {
      const { _source, _seq_no, _primary_term } = await server.send("read", (client) =>
        client.get<StoredViewState<Kept> & { writer: string }>({ index: alias, id: view }),
      );
      if (_source === undefined) return undefined;
      const { writer, ...state } = _source;
      const revision = { if_seq_no: Number(_seq_no), if_primary_term: Number(_primary_term) };
      return { state, revision, writer };
    } catch (error) {
      if (statusOf(error) === NOT_FOUND) return undefined;
      throw error;
    }
  }

  /** Writes through an alias, which a write never creates. */
  async function write(
    state: StoredViewState<Kept>,
    condition: FoundState<Kept>["revision"] | { readonly op_type: "create" },
  ): Promise<FoundState<Kept>> {
    const writer = randomUUID();
    try {
      const { _seq_no, _primary_term } = await server.send("written", (client) =>
        client.index({
          ...{ index: alias, id: view, require_alias: true, ...condition },
          document: { view, ...state, writer },
        }),
      );
      const revision = { if_seq_no: Number(_seq_no), if_primary_term: Number(_primary_term) };
      return { state, revision, writer };
    } catch (error) {
      if (statusOf(error) !== CONFLICT && statusOf(error) !== NOT_FOUND) throw error;
      const found = await find();
      // The response to an earlier attempt may have been lost.
      if (found?.writer === writer) return found;
      throw new CatalogError("conflict", movedTo(view, found?.state.position), { cause: error });
    }
  }

  async function createIndex(): Promise<void> {
    try {
      await server.send("written", (client) =>
        client.indices.create({ index, mappings, aliases: { [alias]: {} } }),
      );
    } catch (error) {
      if (typeOfError(error) !== "resource_already_exists_exception") throw error;
    }
  }

  return {
    find,
    async create(state) {
      await createIndex();
      try {
        return await write(state, { op_type: "create" });
      } catch (error) {
        const found = await find();
        if (found === undefined) throw error;
        return found;
      }
    },
    replace: ({ revision }, state) => write(state, revision),
  };
}

const movedTo = (view: string, position: Position | undefined): string =>
  position === undefined
    ? `the metadata of the view "${view}" were deleted`
    : `the view "${view}" was moved to position ${position} by another projector`;

/** Throws `unavailable` for a view of another release. */
export function checkVersion<Kept>(
  { view, version: own }: ViewShape<Kept>,
  { version }: Pick<StoredViewState<Kept>, "version">,
): void {
  if (version === own) return;
  const command = ownCommand(`rebuild ${view}`);
  const newer = version > own;
  throw new CatalogError(
    "unavailable",
    `the view "${view}" was built by ${newer ? "a newer" : "an older"} release (version ${version} of its documents, this one has ${own})`,
    { hint: newer ? `Start that release, or run: ${command}` : `Run: ${command}` },
  );
}

export const emptyState = <Kept>(
  { version, empty }: ViewShape<Kept>,
  generation: number,
): StoredViewState<Kept> => ({
  ...{ version, generation, position: START, places: [], model: null, log: null, kept: empty },
});
