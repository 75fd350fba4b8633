/**
 * Lineage that users draw: edges between two assets. The aspect of one end holds the edge; the table
 * says which aspect and list, by the entity types of downstream and upstream.
 */
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { stampOf } from "../changes.ts";
import { distinct } from "../declared.ts";
import { anyOf, type PatchOperation, patchOf, refuseMissing, write } from "../writing.ts";

interface LineageEdge {
  readonly downstreamUrn: string;
  readonly upstreamUrn: string;
}

interface Place {
  readonly holder: "downstream" | "upstream";
  readonly aspect: string;
  readonly list: string;
  /** An older list of urns that may have the edge, too. */
  readonly older?: string;
}

/** By `downstream←upstream`. */
const places: ReadonlyMap<string, Place> = new Map<string, Place>([
  ["dataset←dataset", { holder: "downstream", aspect: "upstreamLineage", list: "upstreams" }],
  [
    "dataset←dataJob",
    {
      ...{ holder: "upstream", aspect: "dataJobInputOutput" },
      ...{ list: "outputDatasetEdges", older: "outputDatasets" },
    },
  ],
  ...["dataset", "chart"].map((upstream): [string, Place] => [
    `chart←${upstream}`,
    { holder: "downstream", aspect: "chartInfo", list: "inputEdges", older: "inputs" },
  ]),
  ...["chart", "dataset"].map((upstream): [string, Place] => [
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

function placeOf({ downstreamUrn, upstreamUrn }: LineageEdge): Place {
  const ends = `${entityTypeOf(downstreamUrn)}←${entityTypeOf(upstreamUrn)}`;
  const place = places.get(ends);
  if (place !== undefined) return place;
  throw new CatalogError("malformed", `lineage of the kind ${ends} is not edited`, {
    hint: `Edges are of the kinds ${[...places.keys()].join(", ")}`,
  });
}

/** The operations for one edge; an edge that is present is not added again. */
function operationsFor(
  op: "add" | "remove",
  edge: LineageEdge,
  { holder, list, older, aspect }: Place,
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

/** Urns of the members that a list of the aspect has. */
async function listed(urn: string, { aspect, list, older }: Place, viewer: Viewer) {
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

async function updateLineage(_: never, { input }: { input: LineageInput }, viewer: Viewer) {
  const edges = [
    ...input.edgesToAdd.map((edge) => ({ op: "add" as const, edge })),
    ...input.edgesToRemove.map((edge) => ({ op: "remove" as const, edge })),
  ].flatMap(({ op, edge }) => (edge ? [{ op, edge, place: placeOf(edge) }] : []));
  const ends = distinct(edges.flatMap(({ edge }) => [edge.downstreamUrn, edge.upstreamUrn]));
  await refuseMissing(ends, viewer);
  /** By holder and aspect, so that each aspect is written once. */
  const patches = new Map<string, { urn: string; aspect: string; operations: PatchOperation[] }>();
  for (const { op, edge, place } of edges) {
    const [urn, other] =
      place.holder === "downstream"
        ? [edge.downstreamUrn, edge.upstreamUrn]
        : [edge.upstreamUrn, edge.downstreamUrn];
    if (op === "add" && (await listed(urn, place, viewer)).has(other)) continue;
    const key = `${place.aspect} ${urn}`;
    const patch = patches.get(key) ?? { urn, aspect: place.aspect, operations: [] };
    patches.set(key, patch);
    patch.operations.push(...operationsFor(op, edge, place, viewer));
  }
  const proposals = Array.from(patches.values(), ({ urn, aspect, operations }) =>
    patchOf(urn, aspect, operations),
  );
  return write(proposals, viewer, [anyOf(["EDIT_ENTITY", "EDIT_LINEAGE"], ends)]);
}

export const lineageMutations = { updateLineage };
