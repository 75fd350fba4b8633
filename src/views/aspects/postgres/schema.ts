/**
 * The aspect view in PostgreSQL: one row for every value of every aspect, in one schema per catalog.
 *
 * Each generation has its own tables (`entity_g7`), and a row in `view` with its position; readers use
 * the live one. A reader's statement checks the live generation in the same snapshot as the data, so a
 * swap causes neither wrong nor mixed results.
 *
 * Urns have small numbers, found by 64 bits of a hash: the index stays small, however long urns are.
 * It need not be unique, because the urn itself is compared. A urn has one row, because writers lock
 * the row in `view`.
 */

/** Raised with every change to the tables, together with a migration. */
export const TABLES_VERSION = 2;

export const VIEW = "aspects";

/** An index entry has at most 2.7 kB; longer urns are compared by the urn itself. */
const ORDERED_CHARACTERS = 600;

/** The order of urns: the index covers the first part, the urn decides the rest. */
export const IN_ORDER = `left(urn, ${ORDERED_CHARACTERS}), urn`;
export const inOrderFrom = (parameter: string): string =>
  `left(urn, ${ORDERED_CHARACTERS}) >= left(${parameter}, ${ORDERED_CHARACTERS})`;

/** Quoted names of tables. */
export interface Tables {
  readonly schema: string;
  readonly generation: number;
  readonly view: string;
  readonly generations: string;
  readonly aspectName: string;
  readonly entityKind: string;
  readonly entity: string;
  readonly aspectValue: string;
}

export function tablesOf(name: string, generation: number): Tables {
  const schema = `"${name}"`;
  const own = (table: string) => `${schema}.${table}_g${generation}`;
  return {
    schema,
    generation,
    view: `${schema}.view`,
    generations: `${schema}.view_generation`,
    aspectName: own("aspect_name"),
    entityKind: own("entity_kind"),
    entity: own("entity"),
    aspectValue: own("aspect_value"),
  };
}

/**
 * edition: unique id of a generation; numbers of generations restart if the schema is dropped.
 * turn: counts transactions, so that a writer detects other writers.
 * last_entity: the number of the last new entity.
 * record: the name of the record at `position` (log/record-name.ts).
 */
export const metadata = ({ view, generations }: Tables): string => `
CREATE SEQUENCE ${generations};
CREATE TABLE ${view} (
  name text NOT NULL,
  generation bigint NOT NULL,
  edition uuid NOT NULL DEFAULT gen_random_uuid(),
  version integer NOT NULL,
  live boolean NOT NULL,
  model text,
  log text,
  position bigint NOT NULL DEFAULT 0,
  turn bigint NOT NULL DEFAULT 0,
  last_entity bigint NOT NULL DEFAULT 0,
  record text,
  PRIMARY KEY (name, generation)
) WITH (fillfactor = 20);
CREATE UNIQUE INDEX view_live ON ${view} (name) WHERE live;
`;

/**
 * entity_kind: prefix of urns, up to the third colon; type: unknown until an entity has a value;
 * living: number of existing entities.
 * entity.living: true while the key aspect has a value. entity.revision: that of the last record
 * that no newest value has (removals); -1 if there is none.
 * aspect_value.position: that of the record that created the value; confirmed, removed: those of the
 * last record that confirmed it, and that removed it; revision: that of the last record that stated it.
 *
 * Confirmed rows stay in their page while it has free space (fillfactor).
 */
export const tables = ({ aspectName, entityKind, entity, aspectValue, generation }: Tables) => `
CREATE TABLE ${aspectName} (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL
);
CREATE TABLE ${entityKind} (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  prefix text COLLATE "C" NOT NULL,
  type text,
  living bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE ${entity} (
  id bigint PRIMARY KEY,
  hash bigint NOT NULL,
  revision bigint NOT NULL DEFAULT -1,
  kind integer NOT NULL,
  living boolean NOT NULL,
  urn text COLLATE "C" NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX entity_hash_g${generation} ON ${entity} (hash);
CREATE INDEX entity_urn_g${generation} ON ${entity} (kind, left(urn, ${ORDERED_CHARACTERS}));
CREATE TABLE ${aspectValue} (
  entity bigint NOT NULL,
  position bigint NOT NULL,
  revision bigint NOT NULL,
  confirmed bigint,
  removed bigint,
  time bigint NOT NULL,
  aspect integer NOT NULL,
  version integer NOT NULL,
  actor text NOT NULL,
  system text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (entity, aspect, version)
) WITH (fillfactor = 90);
`;

export const dropTables = ({ aspectName, entityKind, entity, aspectValue }: Tables): string =>
  `DROP TABLE IF EXISTS ${aspectValue}, ${entity}, ${entityKind}, ${aspectName}`;

interface Migration {
  /** Migrates to this version from the previous one. */
  readonly to: number;
  /** Statements for the live generation, run in one transaction. */
  readonly statements: (tables: Tables) => string;
}

/** In order, without gaps. Migrations are never removed: any earlier release may be upgraded. */
export const migrations: readonly Migration[] = [
  {
    // Adds counts of existing entities, which queries counted before.
    to: 2,
    statements: ({ entityKind, entity }) => `
ALTER TABLE ${entityKind} ADD COLUMN living bigint NOT NULL DEFAULT 0;
UPDATE ${entityKind} AS k SET living = n.living
FROM (SELECT kind, count(*) AS living FROM ${entity} WHERE living GROUP BY kind) AS n
WHERE n.kind = k.id;
`,
  },
];

/**
 * The newest value of each aspect of an entity: one index lookup per aspect, for any length of the
 * history. `entity` is an expression for the entity's number.
 */
export const newestOf = ({ aspectValue }: Tables, entity: string, columns: string): string => `
WITH RECURSIVE newest AS (
  (SELECT ${columns} FROM ${aspectValue} WHERE entity = ${entity}
   ORDER BY aspect DESC, version DESC LIMIT 1)
  UNION ALL
  SELECT next.* FROM newest AS last CROSS JOIN LATERAL (
    SELECT ${columns} FROM ${aspectValue}
    WHERE entity = ${entity} AND aspect < last.aspect
    ORDER BY aspect DESC, version DESC LIMIT 1
  ) AS next
)
SELECT * FROM newest`;
