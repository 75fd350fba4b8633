/**
 * The aspect view in PostgreSQL: one row for every value of every aspect, in one schema a catalog.
 *
 * Each generation has tables of its own (`entity_g7`), and a row in `view` that says how far it is;
 * the live one is what readers see. A statement of a reader asks for the live row's edition in the
 * same snapshot as for the data, so that a swap can give neither a wrong answer nor a mixed one.
 *
 * Urns have small numbers, found by 64 bits of a hash: the index stays small however long urns are.
 * It need not be unique, since the urn itself is compared; there is one row a urn because writers
 * take turns at the row in `view`.
 */

/** Raised with every change to the tables, together with a migration. */
export const TABLES_VERSION = 2;

export const VIEW = "aspects";

/** An index entry holds 2.7 kB at most: longer urns are told apart by the urn itself. */
const ORDERED_CHARACTERS = 600;

/** What urns are put in order by: the index gives this much, the urn decides the rest. */
export const IN_ORDER = `left(urn, ${ORDERED_CHARACTERS}), urn`;
export const inOrderFrom = (parameter: string): string =>
  `left(urn, ${ORDERED_CHARACTERS}) >= left(${parameter}, ${ORDERED_CHARACTERS})`;

/** Names of tables, as statements say them. */
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
 * edition: tells a generation from any other of that number, also after the schema was dropped.
 * turn: counts transactions, so that a writer sees that another was there since.
 * last_entity: the number that the last new entity got.
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
 * entity_kind: what urns begin with, up to the third colon; type: unknown until one has a value;
 * living: how many of its entities live.
 * entity.living: while the key aspect has a value. entity.revision: of the last record that no
 * newest value tells of (removals); -1 if there is none.
 * aspect_value.position: of the record that made the value; confirmed, removed: of the one that
 * told it again last, that removed it; revision: of the last record that told it.
 *
 * Rows that are told again stay in their page where it has room (fillfactor).
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
  /** The tables' version that it makes, from the one before. */
  readonly to: number;
  /** Statements for the live generation, run in one transaction. */
  readonly statements: (tables: Tables) => string;
}

/** In order, without a gap. They stay for ever: any earlier release may be upgraded. */
export const migrations: readonly Migration[] = [
  {
    // Living entities were counted by each question.
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
 * The newest value of each aspect of an entity: one step in the index an aspect, however long the
 * history is. `entity` is an expression for the entity's number.
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
