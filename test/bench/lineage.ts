/** Lineage of three hops over ten thousand edges: the first and later requests. */
import { createClient } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { median } from "./load.ts";
import { report } from "./report.ts";

/** Upstream tables of each table of the last level: 20 + 400 + 9,600 edges. */
const upstreams = [20, 20, 24];
const asks = 50;
const targetMs = 50;

const urnOf = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,db.${name},PROD)`;

export async function benchLineage(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  const proposals: object[] = [];
  let edges = 0;
  let last = ["table"];
  for (const count of upstreams) {
    const next: string[] = [];
    for (const name of last) {
      const own = Array.from({ length: count }, (_, n) => `${name}_${n}`);
      proposals.push(proposalOf(name, own));
      next.push(...own);
    }
    edges += next.length;
    last = next;
  }
  for (let first = 0; first < proposals.length; first += 100) {
    const some = proposals.slice(first, first + 100);
    await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals: some });
  }
  let found = 0;
  const times: number[] = [];
  for (let n = 0; n < asks; n++) {
    const asked = { urn: urnOf("table"), direction: "UPSTREAM", maxHops: upstreams.length };
    const begun = performance.now();
    const { body } = await client.call("POST", "/relationships?action=getLineage", asked);
    times.push(performance.now() - begun);
    found = body.value.total;
  }
  const shown = [times[0] ?? Number.NaN, median(times)].map((ms) => ms.toFixed(1));
  report(
    `lineage of 3 hops over ${edges.toLocaleString("en")} edges, ${found.toLocaleString("en")} found`,
    `first ${shown[0]}, then ${shown[1]} ms (target ${targetMs})`,
  );
  await service.stop();
}

function proposalOf(name: string, from: readonly string[]): object {
  const auditStamp = { time: 0, actor: "urn:li:corpuser:mira" };
  const aspect = {
    upstreams: from.map((one) => ({ dataset: urnOf(one), type: "TRANSFORMED", auditStamp })),
  };
  return {
    ...{ entityType: "dataset", entityUrn: urnOf(name), changeType: "UPSERT" },
    aspectName: "upstreamLineage",
    aspect: { contentType: "application/json", value: JSON.stringify(aspect) },
  };
}
