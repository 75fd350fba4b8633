/** The rows of the aspect view in SQLite, for verification. */
import type { DatabaseSync } from "node:sqlite";
import type { Row, ViewRows } from "../../../projector/verify/view-rows.ts";
import { splitUrn, typeOf } from "../../../storage/split-urn.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../../storage/sqlite/row-reading.ts";
import { entityRow } from "../folded-rows.ts";
import { aspectSchema } from "./schema.ts";

const URNS_PER_PAGE = 1_000;

interface Place {
  readonly kind: number;
  readonly rest: string;
}

interface KindColumns {
  readonly prefix: string;
  readonly type: string | null;
  readonly living: number;
}

/** A kind has a type as soon as one of its entities exists. */
const isOfAnotherType = ({ prefix, type, living }: KindColumns): boolean =>
  type === null ? living > 0 : type !== typeOf(prefix);

export const openSqliteAspectRows = (path: string): ViewRows =>
  openSqliteViewRows(aspectSchema, path, queriesOf);

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays, objects } = preparingOn(db);
  const findKind = db.prepare("SELECT id FROM entity_kind WHERE prefix = ?");
  const kindOf = new Map<string, number | undefined>();
  const findEntity = arrays<readonly [id: number, living: number, revision: number]>(
    "SELECT id, living, revision FROM entity WHERE kind = ? AND rest = ?",
  );
  const names = db.prepare("SELECT id, name FROM aspect_name");
  const nameOf = new Map<number, string>();
  const valuesOf = arrays<readonly [aspect: number, ...cells: Row]>(`
    SELECT aspect, version, position, revision, confirmed, removed, time, actor, system, value
    FROM aspect_value WHERE entity = ? ORDER BY aspect, version`);
  const countRows = arrays<readonly [number]>(
    "SELECT (SELECT count(*) FROM aspect_value) + (SELECT count(*) FROM entity)",
  );
  const urnsAfter = objects<Place & { readonly prefix: string }>(`
    SELECT kind, rest, prefix FROM entity JOIN entity_kind ON entity_kind.id = kind
    WHERE (kind, rest) > (?, ?) ORDER BY kind, rest LIMIT ${URNS_PER_PAGE}`);
  const miscounted = db.prepare(`
    SELECT prefix FROM entity_kind
    WHERE living <> (SELECT count(*) FROM entity WHERE kind = entity_kind.id AND living = 1)`);
  const kinds = objects<KindColumns>("SELECT prefix, type, living FROM entity_kind");
  const numbered = arrays<readonly [number]>(`
    SELECT (SELECT coalesce(max(id), 0) FROM last_entity) <
      max((SELECT coalesce(max(id), 0) FROM entity),
          (SELECT coalesce(max(entity), 0) FROM aspect_value))`);

  function kind(prefix: string): number | undefined {
    if (!kindOf.has(prefix)) {
      const found = findKind.get(prefix)?.id;
      kindOf.set(prefix, found === undefined ? undefined : Number(found));
    }
    return kindOf.get(prefix);
  }

  return {
    begin() {
      kindOf.clear();
      nameOf.clear();
      for (const { id, name } of names.all()) nameOf.set(Number(id), String(name));
    },
    rowsOf(urn) {
      const { prefix, rest } = splitUrn(urn);
      const number = kind(prefix);
      const entity = number === undefined ? undefined : findEntity.get(number, rest);
      if (entity === undefined) return [];
      const [id, living, noted] = entity;
      const rows: Row[] = [];
      // The revision of an entity is the greatest of those of its newest values and its own row.
      let revision = noted;
      const values = valuesOf.all(id);
      for (const [n, value] of values.entries()) {
        const [aspect, ...cells] = value;
        const newest = values[n + 1]?.[0] !== aspect;
        if (newest && Number(cells[2]) > revision) revision = Number(cells[2]);
        rows.push([nameOf.get(aspect) ?? "", ...cells, null]);
      }
      return [entityRow(living === 1, revision), ...rows];
    },
    count: () => numberOf(countRows),
    urns(after) {
      const { kind: from, rest } = (after as Place | undefined) ?? { kind: -1, rest: "" };
      const page = urnsAfter.all(from, rest);
      return {
        urns: page.map(({ prefix, rest: end }) => `${prefix}${end}`),
        next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined,
      };
    },
    faults: () => [
      ...miscounted.all().map(({ prefix }) => `the count of living "${prefix}…" is wrong`),
      ...kinds
        .all()
        .filter(isOfAnotherType)
        .map(({ prefix, type }) => `"${prefix}…" is listed as of the type "${type ?? ""}"`),
      ...(numberOf(numbered) === 1 ? ["numbers of entities would be assigned twice"] : []),
    ],
  };
}
