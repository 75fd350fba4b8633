/** A random sequence of changes of all kinds to a catalog, the same in every run. */
import type { Client } from "./client.ts";
import { operatorOf } from "./operator.ts";

interface Written {
  readonly client: Client;
  /** The data directory, with the admin token. */
  readonly directory: string;
}

const NOON = 1_629_331_200_000;
const HOUR = 3_600_000;

export const dataset = (n: number | string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,reef.t${n},PROD)`;
export const user = (n: number): string => `urn:li:corpuser:u${n}`;

/** Random numbers below n; every catalog gets the same sequence. */
function createChance(): (n: number) => number {
  let state = 20_260_704;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const chances = new WeakMap<Written, ReturnType<typeof createChance>>();

/** Writes, deletions, truncations and requests to forget for the given number of entities. */
export async function writeHistory(on: Written, count: number, entities: number): Promise<void> {
  const { client } = on;
  const some = chances.get(on) ?? createChance();
  chances.set(on, some);
  const action = (path: string, body: object) => client.call("POST", path, body);
  for (let n = 0; n < count; n++) {
    const urn = dataset(some(entities));
    switch (some(12)) {
      case 0:
        await action("/entities?action=delete", { urn });
        break;
      case 1:
        await client.call("DELETE", `/aspects/${encodeURIComponent(urn)}?aspect=ownership`);
        break;
      case 2:
        await operatorOf(on).act("truncateTimeseriesAspect", {
          ...{ entityType: "dataset", aspect: "datasetProfile", dryRun: false },
          endTimeMillis: NOON + some(20) * HOUR,
        });
        break;
      case 3:
        await client.call("DELETE", `/relationships?urn=${encodeURIComponent(user(some(5)))}`);
        break;
      case 4:
      case 5:
        await client.upsert(urn, "datasetProfile", {
          timestampMillis: NOON + some(24) * HOUR,
          rowCount: n,
        });
        break;
      case 6:
        await client.upsert(urn, "upstreamLineage", {
          upstreams: [0, 1].map(() => ({ dataset: dataset(some(entities)), type: "COPY" })),
        });
        break;
      case 7:
      case 8:
        await client.upsert(urn, "status", { removed: some(2) === 0 });
        break;
      default:
        await client.upsert(urn, "ownership", {
          owners: [some(5), some(5)].map((one) => ({ owner: user(one), type: "DATAOWNER" })),
        });
    }
  }
}
