import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type { GraphWrite } from "../../src/views/graph/graph.ts";
import { openSqliteGraphSink } from "../../src/views/graph/sqlite/sqlite-graph-sink.ts";
import { graphContract } from "../contract/graph.contract.ts";
import { graphHistories, urns } from "../contract/graph-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { openDumpedGraphReader } from "../support/dumped-readers.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteGraphSink,
  openReader: openDumpedGraphReader,
});

graphContract("sqlite", { createPlace });
const entityOf = (urn: string) =>
  `(SELECT node.id FROM node JOIN kind ON kind.id = kind WHERE prefix || rest = '${urn.replaceAll("'", "''")}')`;

const damages: readonly (readonly [what: string, statements: (urn: string) => string])[] = [
  ["removed", (urn) => `DELETE FROM edge WHERE entity = ${entityOf(urn)}`],
  ["removed in part", (urn) => `DELETE FROM edge WHERE entity = ${entityOf(urn)} AND ordinal = 0`],
  [
    "changed",
    (urn) => `UPDATE edge SET updated_on = 1, properties = '{}' WHERE entity = ${entityOf(urn)}`,
  ],
  [
    "moved to another place",
    (urn) => `UPDATE edge SET position = position + 5 WHERE entity = ${entityOf(urn)}`,
  ],
  [
    "added",
    (urn) => `
      INSERT INTO name (text) VALUES ('Ghost');
      INSERT INTO edge SELECT entity, (SELECT id FROM name WHERE text = 'Ghost'), entity, entity,
        aspect, 1, 0, 1, source_kind, source_kind, path, via, 1, created_actor, 1, updated_actor, NULL
      FROM edge WHERE entity = ${entityOf(urn)} LIMIT 1`,
  ],
];

sinkContract("sqlite graph", {
  createPlace,
  histories: graphHistories,
  urnOf: ({ urn }) => urn,
  bearsOn: (write, urn) => write.op === "forget" || write.urn === urn,
  ownerOf: ({ entity }) => entity,
  damages,
});

describe("restoring an entity", () => {
  test("the first write of a pair of ends leads again after a restore, whatever the rows were", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    // Every second entity also states edges of the next one.
    const at = position(12);
    const edge = (n: number) => ({
      ...{ source: urns[n] ?? "", type: "OwnedBy", destination: urns[n + 1] ?? "", path: "/" },
    });
    const stamp = { time: 1, actor: "urn:li:corpuser:ada" };
    const history = Array.from({ length: 12 }, (_, n): GraphWrite => {
      const [urn = "", edges] = [urns[n], [edge(n), edge(n ^ 1)]];
      return { op: "replace", urn, aspect: "ownership", position: position(n + 1), stamp, edges };
    });
    await sink.apply(history, at);
    const leads =
      "SELECT source, destination, entity, leads FROM edge ORDER BY source, destination, entity";
    const before = await place.ask(leads);
    expect(before.map((row) => row.leads)).toContain(0);
    await place.change("UPDATE edge SET leads = 1 - leads");
    for (const urn of urns) {
      await sink.restore(
        urn,
        history.filter((write) => write.urn === urn),
      );
    }
    expect(await place.ask(leads)).toEqual(before);
    await sink.close();
    await place.remove();
  });
});
