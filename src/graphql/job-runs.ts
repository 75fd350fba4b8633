/** Runs of jobs: the process instances that name the job as their template. */
import { type EntitySource, entityOf } from "./entity-source.ts";
import type { Maybe } from "./maybe.ts";
import type { Viewer } from "./viewer.ts";

const TYPE = "DataProcessInstance";
const COUNT = 20;
/** Most that are looked through. */
const runsMax = 10_000;

/** Those told last first, without those that are removed. */
export async function jobRuns(
  { urn }: EntitySource,
  asked: { readonly start?: Maybe<number>; readonly count?: Maybe<number> },
  { catalog, loader }: Viewer,
) {
  const start = Math.max(0, asked.start ?? 0);
  const count = Math.max(0, asked.count ?? COUNT);
  const ofJob = { urn, direction: "INCOMING", types: ["InstanceOf"] };
  const found = await loader.list(
    async () => {
      const { total } = await catalog.listRelationships({ ...ofJob, start: 0, count: 0 });
      const page = { start: Math.max(0, total - runsMax), count: runsMax };
      const told = await catalog.listRelationships({ ...ofJob, ...page });
      const urns = told.relationships.map((one) => one.urn);
      const there = await catalog.filterExisting(urns, { includeSoftDelete: false });
      const all = there.map(entityOf).filter(({ __typename }) => __typename === TYPE);
      return { total: all.length, runs: all.reverse().slice(start, start + count) };
    },
    ({ runs }) => runs.length,
  );
  return { start, count: found.runs.length, ...found };
}
