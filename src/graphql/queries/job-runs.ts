/** Runs of jobs: the process instances that name the job as their template. */
import type { Viewer } from "../context.ts";
import type { EntitySource } from "./entity-source.ts";
import { type PageInput, pageIn } from "./pages.ts";
import { relatedEntities } from "./related.ts";

/** Runs of a job, newest first, without soft-deleted ones. */
export async function jobRuns({ urn }: EntitySource, asked: PageInput, viewer: Viewer) {
  const query = { urn, relationship: "InstanceOf", typename: "DataProcessInstance" };
  const all = await relatedEntities(query, viewer);
  const { page, ...counts } = pageIn(all.toReversed(), asked);
  return { ...counts, runs: page };
}
