import { describe, test } from "vitest";
import { openSqliteAspectSink } from "../../src/views/aspects/sqlite/sqlite-aspect-sink.ts";
import { aspectTableContract } from "../contract/aspect-table.contract.ts";
import { aspectHistories } from "../contract/aspect-table-model.ts";
import { expectRestoredCounts } from "../contract/restored-counts.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { openDumpedAspectReader } from "../support/dumped-readers.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteAspectSink,
  openReader: openDumpedAspectReader,
});

aspectTableContract("sqlite", { createPlace });
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const entityOf = (urn: string) =>
  `(SELECT entity.id FROM entity JOIN entity_kind AS k ON k.id = kind WHERE prefix || rest = ${quoted(urn)})`;

sinkContract("sqlite aspects", {
  createPlace,
  histories: aspectHistories,
  urnOf: ({ urn }) => urn,
  ownerOf: ({ urn }) => urn,
  damages: [
    ["removed", (urn) => `DELETE FROM aspect_value WHERE entity = ${entityOf(urn)}`],
    [
      "removed in part",
      (urn) => `DELETE FROM aspect_value WHERE entity = ${entityOf(urn)} AND version = 1`,
    ],
    [
      "changed",
      (urn) =>
        `UPDATE aspect_value SET value = '{}', confirmed = 7 WHERE entity = ${entityOf(urn)}`,
    ],
    [
      "added",
      (urn) => `
        INSERT INTO aspect_name (name) VALUES ('ghost');
        INSERT INTO aspect_value (entity, aspect, version, position, revision, time, actor, system, value)
        VALUES (${entityOf(urn)}, (SELECT id FROM aspect_name WHERE name = 'ghost'), 1, 1, 1, 1, 'a', '{}', '{}')`,
    ],
    [
      "given a wrong living flag",
      (urn) => `UPDATE entity SET living = 1 - living WHERE id = ${entityOf(urn)}`,
    ],
    ["deleted with their entity", (urn) => `DELETE FROM entity WHERE id = ${entityOf(urn)}`],
  ],
});

describe("restoring entities", () => {
  test.each([
    ["marked with the opposite state", "UPDATE entity SET living = 1 - living"],
    ["forgotten", "DELETE FROM entity"],
    [
      "counted wrong together with a deleted entity",
      "UPDATE entity SET living = 1; UPDATE entity_kind SET living = 7",
    ],
    ["left unchanged", ""],
  ])("restoring repairs the counts of entities that were %s", async (_, damage) => {
    const place = await createPlace();
    await expectRestoredCounts(place, {
      damage,
      counts: "SELECT prefix, living FROM entity_kind ORDER BY prefix",
      entities: "SELECT kind, rest, living, revision FROM entity ORDER BY kind, rest",
    });
    await place.remove();
  });
});
