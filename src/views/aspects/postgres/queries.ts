/**
 * The statements of the reader. Parameters $1 and $2 are the expected generation and version of the
 * tables: if they are not the live ones, a statement returns no row; an empty result is a row of nulls.
 */
import { IN_ORDER, inOrderFrom, newestOf, type Tables, VIEW } from "./schema.ts";

export type Question =
  | "position"
  | "states"
  | "value"
  | "list"
  | "after"
  | "counts"
  | "kinds"
  | "having";

/** Entities that one statement counts. */
const COUNTED_PER_SLICE_MAX = 20_000;

export function questionsOf(tables: Tables): Readonly<Record<Question, string>> {
  const { view, aspectName, entityKind, entity, aspectValue } = tables;
  const live = `
    (SELECT position FROM ${view} WHERE name = '${VIEW}' AND live
     AND edition = $1::uuid AND version = $2::integer) AS live`;
  const newest = newestOf(
    tables,
    "e.id",
    "aspect, version, value, time, actor, system, removed, revision",
  );
  /** Entities of the kind $3 from the urn $4 on, and the first one of the next slice. */
  const slice = `
    SELECT id, urn, living, row_number() OVER (ORDER BY ${IN_ORDER}) AS n FROM ${entity}
    WHERE kind = (SELECT id FROM ${entityKind} WHERE prefix = $3)
      AND ${inOrderFrom("$4")} AND urn >= $4
    ORDER BY ${IN_ORDER} LIMIT ${COUNTED_PER_SLICE_MAX + 1}`;

  return {
    position: `SELECT live.position FROM ${live}`,

    // $3: hashes. A row for each aspect of each entity.
    states: `
SELECT e.urn, e.revision, a.name, v.version, v.value, v.time, v.actor, v.system,
  v.removed IS NOT NULL, v.revision
FROM ${live}
LEFT JOIN ${entity} AS e ON e.hash = ANY($3::bigint[])
LEFT JOIN LATERAL (${newest}) AS v ON true
LEFT JOIN ${aspectName} AS a ON a.id = v.aspect`,

    // $3: hashes, one; $4: urn; $5: aspect; $6: version.
    value: `
SELECT v.version, v.value, v.time, v.actor, v.system
FROM ${live}
LEFT JOIN (
  ${entity} AS e JOIN ${aspectValue} AS v ON v.entity = e.id AND v.version = $6::bigint
    AND v.aspect = (SELECT id FROM ${aspectName} WHERE name = $5)
) ON e.hash = ANY($3::bigint[]) AND e.urn = $4`,

    // $3: type; $4: start; $5: count. Kinds follow each other, a page may lie in several.
    list: `
WITH kinds AS (
  SELECT id, prefix, living, sum(living) OVER (ORDER BY prefix) - living AS before,
    sum(living) OVER () AS total
  FROM ${entityKind} WHERE type = $3
)
SELECT k.total, e.urn
FROM ${live}
LEFT JOIN kinds AS k ON true
LEFT JOIN LATERAL (
  SELECT urn FROM ${entity} WHERE kind = k.id AND living ORDER BY ${IN_ORDER}
  OFFSET greatest(0, $4::bigint - k.before)
  LIMIT greatest(0, least(k.living, $4::bigint + $5::bigint - k.before)
    - greatest(0, $4::bigint - k.before))
) AS e ON true
ORDER BY k.prefix, e.urn`,

    // $3: type; $4: urn; $5: count. At most so many of each kind, in their order.
    after: `
SELECT e.urn
FROM ${live}
LEFT JOIN ${entityKind} AS k ON k.type = $3
LEFT JOIN LATERAL (
  SELECT urn FROM ${entity}
  WHERE kind = k.id AND living AND ${inOrderFrom("$4")} AND urn > $4
  ORDER BY ${IN_ORDER} LIMIT $5::bigint
) AS e ON true
ORDER BY k.prefix, e.urn`,

    counts: `
SELECT k.type, sum(k.living)::bigint
FROM ${live} LEFT JOIN ${entityKind} AS k ON k.type IS NOT NULL
GROUP BY k.type`,

    kinds: `SELECT k.prefix FROM ${live} LEFT JOIN ${entityKind} AS k ON true ORDER BY k.prefix`,

    // $3: prefix; $4: urn; $5: aspect; $6: pattern.
    having: `
SELECT s.having, s.next
FROM ${live}
LEFT JOIN LATERAL (
  SELECT
    count(*) FILTER (WHERE n <= ${COUNTED_PER_SLICE_MAX} AND urn LIKE $6 ESCAPE '' AND (
      SELECT v.removed IS NULL FROM ${aspectValue} AS v
      WHERE v.entity = slice.id AND v.aspect = (SELECT id FROM ${aspectName} WHERE name = $5)
      ORDER BY v.aspect DESC, v.version DESC LIMIT 1
    )) AS having,
    max(urn) FILTER (WHERE n > ${COUNTED_PER_SLICE_MAX}) AS next
  FROM (${slice}) AS slice
) AS s ON true`,
  };
}
