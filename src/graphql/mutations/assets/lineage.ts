/**
 * Lineage that users edit: edges between two assets. An aspect of one end holds the edge. The table
 * `locations` has this aspect and its list, by the entity types of downstream and upstream.
 */
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { stampOf } from "../changes.ts";
import { distinct } from "../declared.ts";
import { anyOf, type PatchOperation, patchOf, rejectMissing, write } from "../writing.ts";

interface LineageEdge {
  readonly downstreamUrn: string;
  readonly upstreamUrn: string;
}

/** The aspect and list that hold an edge. */
interface Location {
  readonly holder: "downstream" | "upstream";
  readonly aspect: string;
  readonly list: string;
  /** An older list of urns that may have the edge, too. */
  readonly older?: string;
}

/** By the entity types `downstream←upstream`. */
const locations: ReadonlyMap<string, Location> = new Map<string, Location>([
  ["dataset←dataset", { holder: "downstream", aspect: "upstreamLineage", list: "upstreams" }],
  [
    "dataset←dataJob",
    {
      ...{ holder: "upstream", aspect: "dataJobInputOutput" },
      ...{ list: "outputDatasetEdges", older: "outputDatasets" },
    },
  ],
  ...["dataset", "chart"].map((upstream): [string, Location] => [
    `chart←${upstream}`,
    { holder: "downstream", aspect: "chartInfo", list: "inputEdges", older: "inputs" },
  ]),
  ...["chart", "dataset"].map((upstream): [string, Location] => [
    `dashboard←${upstream}`,
    {
      ...{ holder: "downstream", aspect: "dashboardInfo" },
      ...{ list: `${upstream}Edges`, older: `${upstream}s` },
    },
  ]),
  [
    "dataJob←dataset",
    {
      ...{ holder: "downstream", aspect: "dataJobInputOutput" },
      ...{ list: "inputDatasetEdges", older: "inputDatasets" },
    },
  ],
  [
    "dataJob←dataJob",
    {
      ...{ holder: "downstream", aspect: "dataJobInputOutput" },
      ...{ list: "inputDatajobEdges", older: "inputDatajobs" },
    },
  ],
]);

function locationOf({ downstreamUrn, upstreamUrn }: LineageEdge): Location {
  const ends = `${entityTypeOf(downstreamUrn)}←${entityTypeOf(upstreamUrn)}`;
  const location = locations.get(ends);
  if (location !== undefined) return location;
  throw new CatalogError("malformed", `updateLineage does not support edges ${ends}`, {
    hint: `Supported (downstream←upstream): ${[...locations.keys()].join(", ")}`,
  });
}

/** The operations for one edge; an edge that is present is not added again. */
function operationsFor(
  op: "add" | "remove",
  edge: LineageEdge,
  { holder, list, older, aspect }: Location,
  viewer: Viewer,
): readonly PatchOperation[] {
  const stamp = stampOf(viewer);
  const [own, other] =
    holder === "downstream"
      ? [edge.downstreamUrn, edge.upstreamUrn]
      : [edge.upstreamUrn, edge.downstreamUrn];
  const properties = { source: "UI" };
  const value =
    aspect === "upstreamLineage"
      ? { dataset: other, type: "TRANSFORMED", auditStamp: stamp, created: stamp, properties }
      : { sourceUrn: own, destinationUrn: other, created: stamp, lastModified: stamp, properties };
  const operation: PatchOperation = { op, path: [list, other], value };
  if (op === "add" || older === undefined) return [operation];
  return [operation, { op: "remove", path: [older, other] }];
}

/** Urns of the other ends of the edges that the aspect has. */
async function listed(urn: string, { aspect, list, older }: Location, viewer: Viewer) {
  const value = (await viewer.loader.load(urn)).aspect(aspect);
  const members = [value?.[list], older === undefined ? undefined : value?.[older]].flatMap(
    (one) => (Array.isArray(one) ? one : []),
  );
  return new Set(
    members.map((one) =>
      typeof one === "string" ? one : (one.dataset ?? one.destinationUrn ?? Object.values(one)[0]),
    ),
  );
}

interface LineageInput {
  readonly edgesToAdd: readonly Maybe<LineageEdge>[];
  readonly edgesToRemove: readonly Maybe<LineageEdge>[];
}

async function updateLineage({ input }: InputArgs<LineageInput>, viewer: Viewer) {
  const edges = [
    ...input.edgesToAdd.map((edge) => ({ op: "add" as const, edge })),
    ...input.edgesToRemove.map((edge) => ({ op: "remove" as const, edge })),
  ].flatMap(({ op, edge }) => (edge ? [{ op, edge, location: locationOf(edge) }] : []));
  const ends = distinct(edges.flatMap(({ edge }) => [edge.downstreamUrn, edge.upstreamUrn]));
  await rejectMissing(ends, viewer);
  /** By holder and aspect, so that each aspect is written once. */
  const patches = new Map<string, { urn: string; aspect: string; operations: PatchOperation[] }>();
  for (const { op, edge, location } of edges) {
    const [urn, other] =
      location.holder === "downstream"
        ? [edge.downstreamUrn, edge.upstreamUrn]
        : [edge.upstreamUrn, edge.downstreamUrn];
    if (op === "add" && (await listed(urn, location, viewer)).has(other)) continue;
    const key = `${location.aspect} ${urn}`;
    const patch = patches.get(key) ?? { urn, aspect: location.aspect, operations: [] };
    patches.set(key, patch);
    appendAll(patch.operations, operationsFor(op, edge, location, viewer));
  }
  const proposals = Array.from(patches.values(), ({ urn, aspect, operations }) =>
    patchOf(urn, aspect, operations),
  );
  return write(proposals, viewer, [anyOf(["EDIT_ENTITY", "EDIT_LINEAGE"], ends)]);
}

export const lineageMutations = { updateLineage };
