/** Ancestors of an entity, nearest first, and one step of lineage. */
import { stringsIn } from "../../../lib/json.ts";
import { maxOf } from "../../../lib/lists.ts";
import type { InputArgs, Resolver, Viewer } from "../../context.ts";
import type { LoadedEntity } from "../../entity-loader.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import type { EntitySource } from "../entity-source.ts";
import type { PageInput } from "../pages.ts";
import { isVisible } from "../related.ts";

const ancestorsMax = 50;
const metricsMax = 20;

/** The urns of the ancestors. `paths`: the members that may hold the parent, as `aspect/member/…`. */
async function ancestorsOf(
  urn: string,
  options: { readonly paths: readonly string[]; readonly max: number },
  { loader }: Viewer,
): Promise<readonly string[]> {
  const parentOf = ({ aspect }: LoadedEntity): unknown => {
    for (const path of options.paths) {
      const [name = "", ...members] = path.split("/");
      const parent = memberAt(aspect(name), members);
      if (typeof parent === "string") return parent;
    }
    return undefined;
  };
  const found = new Set<string>();
  let next = parentOf(await loader.load(urn));
  while (typeof next === "string" && !found.has(next) && next !== urn && found.size < options.max) {
    const parent = await loader.load(next);
    if (!parent.exists) break;
    found.add(parent.urn);
    next = parentOf(parent);
  }
  return [...found];
}

const ancestors =
  (member: string, ...paths: readonly string[]): Resolver =>
  async ({ urn }: EntitySource, _: never, viewer: Viewer) => {
    const found = await ancestorsOf(urn, { paths, max: ancestorsMax }, viewer);
    return { count: found.length, [member]: found };
  };

interface LineageInput extends PageInput {
  readonly direction: string;
  readonly separateSiblings?: Maybe<boolean>;
  readonly startTimeMillis?: Maybe<number>;
  readonly endTimeMillis?: Maybe<number>;
  readonly includeGhostEntities?: Maybe<boolean>;
}

const siblingsMax = 20;

/**
 * The neighbours in the lineage. Siblings describe one asset on several platforms: their neighbours
 * are merged unless `separateSiblings` is true.
 */
async function lineage({ urn }: EntitySource, { input }: InputArgs<LineageInput>, viewer: Viewer) {
  const { catalog, loader } = viewer;
  const start = Math.max(0, input.start ?? 0);
  const count = Math.max(0, input.count ?? 100);
  const siblings =
    input.separateSiblings === true
      ? []
      : stringsIn((await loader.load(urn)).aspect("siblings")?.siblings).slice(0, siblingsMax);
  const family = [urn, ...siblings];
  const merged = family.length > 1;
  const pages = await Promise.all(
    family.map((one) =>
      loader.list(
        merged ? start + count : count,
        () =>
          catalog.getLineage({
            urn: one,
            direction: input.direction,
            start: merged ? 0 : start,
            count: merged ? start + count : count,
            maxHops: 1,
            startTimeMillis: input.startTimeMillis ?? undefined,
            endTimeMillis: input.endTimeMillis ?? undefined,
          }),
        ({ relationships }) => relationships.length,
      ),
    ),
  );
  const all = new Map(
    pages
      .flatMap(({ relationships }) => relationships)
      .filter(({ entity }) => !family.includes(entity))
      .map((one) => [one.entity, one]),
  );
  const page = merged ? [...all.values()].slice(start, start + count) : [...all.values()];
  const loaded = input.includeGhostEntities
    ? undefined
    : await Promise.all(page.map(({ entity }) => loader.load(entity)));
  // A neighbour may have a urn that no entity can have: it does not exist.
  const relationships = page.filter((_, i) => loaded?.[i] === undefined || isVisible(loaded[i]));
  return {
    start,
    count: relationships.length,
    total: merged ? maxOf([all.size, ...pages.map(({ total }) => total)]) : (pages[0]?.total ?? 0),
    filtered: page.length - relationships.length,
    relationships: relationships.map((one) => ({
      ...one,
      paths: one.paths.map((path) => ({ path })),
    })),
  };
}

const parentContainers = ancestors("containers", "container/container");

export const hierarchyFields = {
  Entity: {
    lineage,
    parentContainers,
    parentNodes: ancestors("nodes", "glossaryTermInfo/parentNode", "glossaryNodeInfo/parentNode"),
    parentDomains: ancestors("domains", "domainProperties/parentDomain"),
    parentDocuments: ancestors("documents", "documentInfo/parentDocument/document"),
    parentMetrics: ({ urn }: EntitySource, _: never, viewer: Viewer) =>
      ancestorsOf(urn, { paths: ["metricRelationships/parentMetric"], max: metricsMax }, viewer),
  },
  VersionedDataset: { parentContainers },
};
