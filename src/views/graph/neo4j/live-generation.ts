/**
 * Directs queries of a reader to the live generation. The generation is cached, and every query also
 * returns the live one at its end. If they differ, the result may be incomplete, because the old
 * generation is being deleted: the query is repeated.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { Columns, Neo4jServer, Parameters } from "./connection.ts";
import { checkVersion } from "./metadata-node.ts";
import { type Names, VIEW } from "./schema.ts";

/** Maximum number of attempts; swaps are slower than queries. */
const TRIES_MAX = 5;

/** A query up to and with its last WITH, which leaves one row with one column, `answer`. */
type Question = (label: string) => {
  readonly text: string;
  readonly parameters: Parameters;
};

/** Returns the result of a query; undefined without a view. */
export type AskLive = (question: Question) => Promise<unknown>;

export function createAskLive(server: Neo4jServer, names: Names): AskLive {
  let generation: number | undefined;

  async function live(): Promise<number | undefined> {
    const [columns] = await server.ask({
      text: `MATCH (v:\`${names.view}\` {part: 'live'}) RETURN v.generation, v.version`,
    });
    if (columns === undefined) return undefined;
    const [found, version] = columns as Columns & readonly [number, number];
    checkVersion(version);
    return found;
  }

  return async (question) => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      generation ??= await live();
      if (generation === undefined) return undefined;
      const { text, parameters } = question(names.label(generation));
      const [row] = await server.ask({
        text: `${text}
          OPTIONAL MATCH (view:\`${names.view}\` {part: 'live'})
          RETURN answer, view.generation`,
        parameters,
      });
      const [answer, after] = row ?? [];
      if (after === generation) return answer;
      generation = undefined;
    }
    throw new CatalogError("unavailable", `the view "${VIEW}" is being replaced`);
  };
}
