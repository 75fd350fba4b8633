/** The metadata node of the graph in a Neo4j server: generation, position, model and log. */
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position } from "../../../core/position.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import type { Columns, Transaction } from "./connection.ts";
import { type Names, VERSION, VIEW } from "./schema.ts";

/** Stored name of the staging generation's node. */
export const STAGING = "regrown";

/** One node is for the live generation, one for the staging generation. */
export type Part = "live" | typeof STAGING;

export interface MetadataNode {
  readonly generation: number;
  readonly position: Position;
  readonly version: number;
  readonly writer: string | null;
  readonly model: string | null;
  readonly log: string | null;
  /** Id of the transaction that last moved the checkpoint. */
  readonly commit: string | null;
  /** Name of the record at the position; null when the view has none. */
  readonly record: string | null;
}

const COLUMNS = "v.generation, v.position, v.version, v.writer, v.model, v.log, v.commit, v.record";

export async function readState(
  transaction: Transaction,
  names: Names,
  part: Part,
): Promise<MetadataNode | undefined> {
  const [columns] = await transaction.run(
    `MATCH (v:\`${names.view}\` {part: $part}) RETURN ${COLUMNS}`,
    { part },
  );
  return columns && stateOf(columns);
}

/** Takes the lock. Data that was read before may be outdated. */
export async function lockState(transaction: Transaction, names: Names, part: Part) {
  const [, state] = await Promise.all([
    transaction.run(`MATCH (v:\`${names.view}\` {part: $part}) SET v.locked = true`, { part }),
    readState(transaction, names, part),
  ]);
  return state;
}

const stateOf = (columns: Columns): MetadataNode => {
  const [generation, at, version, writer, model, log, commit, record] = columns as readonly [
    ...[generation: number, at: number, version: number],
    ...[writer: string | null, model: string | null, log: string | null, commit: string | null],
    record: string | null,
  ];
  return { generation, position: position(at), version, writer, model, log, commit, record };
};

export function checkVersion(version: number): void {
  if (version === VERSION) return;
  const rebuild = ownCommand(`rebuild ${VIEW}`);
  const newer = version > VERSION;
  throw new CatalogError(
    "unavailable",
    `the view "${VIEW}" was created by ${newer ? "a newer" : "an older"} release (its format has version ${version}, this release has ${VERSION})`,
    { hint: newer ? `Start that release, or run: ${rebuild}` : `Run: ${rebuild}` },
  );
}
