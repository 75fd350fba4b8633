/** Runs of jobs: the process instances that name the job as their template. */
import type { Viewer } from "../context.ts";
import type { EntitySource } from "./entity-source.ts";
import type { PageInput } from "./pages.ts";
import { relatedEntities } from "./related.ts";

const COUNT = 20;

/** Runs of a job, newest first, without soft-deleted ones. */
export async function jobRuns({ urn }: EntitySource, asked: PageInput, viewer: Viewer) {
  const start = Math.max(0, asked.start ?? 0);
  const count = Math.max(0, asked.count ?? COUNT);
  const query = { urn, relationship: "InstanceOf", typename: "DataProcessInstance" };
  const all = await relatedEntities(query, viewer);
  const runs = all.toReversed().slice(start, start + count);
  return { start, count: runs.length, total: all.length, runs };
}
