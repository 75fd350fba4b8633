/** Writes and reads versions of datasets, through the API. */
import { expect } from "vitest";
import { encoded, proposal } from "./client.ts";
import type { RunningService } from "./running-service.ts";

export const versioningScheme = "LEXICOGRAPHIC_STRING";

export const version = (versionSet: string, sortId: string) => ({
  ...{ versionSet, sortId, versioningScheme },
  version: { versionTag: sortId },
});

/** `nextSet` begins a new set; `dataset` names a dataset of its own for that set. */
export function createVersions(service: () => RunningService) {
  let count = 0;

  async function ingest(...proposals: readonly object[]): Promise<void> {
    const path = "/aspects?action=ingestProposalBatch";
    const reply = await service().client.call("POST", path, { proposals });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  }

  async function aspectOf(urn: string, aspect: string) {
    const path = `/entitiesV2/${encoded(urn)}?aspects=List(${aspect})`;
    const { body } = await service().client.get(path);
    return body.aspects?.[aspect]?.value;
  }

  return {
    ingest,
    aspectOf,
    /** Number of the current set. */
    current: () => count,
    nextSet: () => `urn:li:versionSet:(set${++count},dataset)`,
    dataset: (name: string) => `urn:li:dataset:(urn:li:dataPlatform:s3,${name}${count},PROD)`,
    write: (urn: string, versionSet: string, sortId: string) =>
      ingest(proposal(urn, "versionProperties", version(versionSet, sortId))),
    setOf: (urn: string) => aspectOf(urn, "versionSetProperties"),
    flagsOf: (...urns: readonly string[]): Promise<readonly unknown[]> =>
      Promise.all(urns.map(async (urn) => (await aspectOf(urn, "versionProperties"))?.isLatest)),
  };
}
