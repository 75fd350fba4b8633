/**
 * Reading the graph: who is next to an entity, and what lies up- or downstream of it. What is read
 * has every write that was answered before.
 *
 * Edges may lead to entities that do not exist, and to types that the model does not have, so reads
 * accept such urns. The urn of a type that the model has must have that type's key parts. A request
 * to remove edges is a write and requires an entity type of the model.
 */
import type { Change } from "../core/change.ts";
import { NO_RUN_ID } from "../core/change.ts";
import { CatalogError } from "../core/errors.ts";
import { formatNumber } from "../core/format-number.ts";
import { createInTurn } from "../core/in-turn.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../core/urn.ts";
import type { Direction, GraphReader, NeighboursQuery, Stamps } from "../graph/graph.ts";
import { keyValue } from "../model/entity-key.ts";
import type { Model } from "../model/model.ts";
import type { Addresses } from "./address.ts";
import type { Caller, Catalog, LineageRelationship, Written } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import {
  isDrawn,
  type LineageDirection,
  pairOf,
  pathTo,
  type Reached,
  timesOf,
  type WalkLineage,
  type WalkQuery,
} from "./lineage.ts";
import { withoutSoftDeleted } from "./soft-deleted.ts";

/** Most relationships of one page, and how many there are when the request does not say. */
const countMax = 10_000;
const countDefault = 100;
/** Most urns in the paths of one answer: some twenty megabytes. */
const pathUrnsMax = 200_000;
/** Walks at once: a large one holds some tens of megabytes until it is answered. */
const walksMax = 4;

/** What an aspect names may be longer than the urn of an entity: whatever edges lead to is answered. */
const told: UrnLimits = { bytesMax: 65_536, schemaFieldBytesMax: 65_536 };

/** As projections/graph.ts reads it. */
const FORGET = "$relationships";

interface Dependencies {
  readonly model: Pick<Model, "entities">;
  readonly reader: Pick<GraphReader, "neighbours" | "stamps">;
  readonly walk: WalkLineage;
  readonly namespace: string;
  readonly addresses: Addresses;
  readonly systemActor: string;
  readonly now: () => number;
  /** Waits until the view has every write that was answered. */
  readonly caughtUp: () => Promise<void>;
  /**
   * Another number whenever the view may tell something else, undefined while it lacks a write that was
   * answered; absent: nothing is remembered.
   */
  readonly version: (() => number | undefined) | undefined;
  /** States of the entities that edges lead to. */
  readonly states: Pick<EntityStates, "read">;
  /** Appends to a stream beside the entity's own. */
  readonly append: (change: Change, caller: Caller, request: unknown) => Promise<Written>;
}

type Asked = Parameters<Catalog["listRelationships"]>[0];
type Page = Awaited<ReturnType<Catalog["listRelationships"]>>;

type Reads = Pick<Catalog, "listRelationships" | "getLineage" | "forgetRelationships">;

export function createRelationships(dependencies: Dependencies): Reads {
  const { reader, walk, caughtUp } = dependencies;
  const inTurn = createInTurn(walksMax);
  const { version } = dependencies;
  const pages = version === undefined ? undefined : createRememberedPages(version);

  async function readPage(query: NeighboursQuery): Promise<Page> {
    const { neighbours, total } = await reader.neighbours(query);
    return { start: query.start, count: neighbours.length, total, relationships: neighbours };
  }

  async function listPage(asked: Asked): Promise<Page> {
    const { urn } = address(asked.urn);
    const direction = oneOf("direction", asked.direction, directions);
    const { start, count } = pageOf(asked);
    await caughtUp();
    const read = () => readPage({ urn, direction, types: asked.types, start, count });
    return pages === undefined ? read() : pages.read(asked, read);
  }

  /** Not cached: soft-deleting an entity does not change its edges. */
  async function omitSoftDeleted(reading: Page | Promise<Page>): Promise<Page> {
    const page = await reading;
    const urns = page.relationships.map(({ urn }) => urn);
    const kept = new Set(await withoutSoftDeleted(urns, dependencies.states));
    const relationships = page.relationships.filter(({ urn }) => kept.has(urn));
    const omitted = page.relationships.length - relationships.length;
    const count = relationships.length;
    return { start: page.start, count, total: page.total - omitted, relationships };
  }

  function address(text: string): { readonly urn: string } {
    const urn = withNamespace(text, dependencies.namespace);
    const { entityType } = parseUrn(urn, told);
    const entity = dependencies.model.entities.get(entityType);
    if (entity !== undefined) keyValue(entity, urn);
    return { urn };
  }

  async function lineageOf(
    query: WalkQuery,
    { start, count }: { readonly start: number; readonly count: number },
  ): Promise<Awaited<ReturnType<Catalog["getLineage"]>>> {
    const { reached, partial } = await walk(query);
    const page = reached.slice(start, start + count);
    const stamps = await reader.stamps(page.map(({ edge }) => pairOf(edge)));
    const paths = pathsOf(query.urn, page);
    return {
      start,
      count,
      total: reached.length,
      partial: partial || paths.length < page.length,
      relationships: page.map((one, i) => relationshipOf(one, paths[i], stamps[i])),
    };
  }

  return {
    listRelationships(asked) {
      const page = pages?.known(asked) ?? listPage(asked);
      return asked.includeSoftDeleted === false ? omitSoftDeleted(page) : page;
    },

    async getLineage(query) {
      const { urn } = address(query.urn);
      const direction = oneOf("direction", query.direction, lineageDirections);
      const { start, count } = pageOf(query);
      const hops = atLeast("maxHops", query.maxHops ?? 1, 1);
      const times = timesOf(query);
      await caughtUp();
      return inTurn(() => lineageOf({ urn, direction, hops, times }, { start, count }));
    },

    async forgetRelationships(text, caller) {
      const { urn, entity } = dependencies.addresses.writable(text);
      const created = {
        time: dependencies.now(),
        actor: caller.actor ?? dependencies.systemActor,
      };
      const system = { lastObserved: created.time, runId: NO_RUN_ID };
      return dependencies.append(
        { urn, entityType: entity.name, aspect: FORGET, changeType: "DELETE", created, system },
        caller,
        { forgotten: urn },
      );
    },
  };
}

/** Characters of pages that are remembered, with their replies: some forty megabytes. */
const rememberedMax = 20_000_000;
/** A larger page takes longer to send than to read. */
const rememberedPageMax = 20_000;
/** Of those who page through a hub, or ask in many ways, the latest. */
const rememberedOfUrnMax = 16;

/**
 * Neighbours are asked for again and again, mostly of entities that nobody has written to: pages
 * are remembered for as long as the view stays as it is, by what was asked, word for word.
 */
function createRememberedPages(version: () => number | undefined) {
  /** By urn: most are asked for in one way alone. */
  const pages = new Map<string, Remembered[]>();
  let size = 0;
  let at = version();

  function forget(): void {
    pages.clear();
    size = 0;
  }

  function known(asked: Asked): Page | undefined {
    const now = version();
    if (now !== at) {
      forget();
      at = now;
    }
    return pages.get(asked.urn)?.find((one) => isSame(one.asked, asked))?.page;
  }

  return {
    known,
    async read(asked: Asked, read: () => Promise<Page>): Promise<Page> {
      const now = version();
      const page = known(asked) ?? (await read());
      // What was read is at least as new as the view was then.
      if (now === undefined || version() !== now || at !== now) return page;
      const own = sizeOf(asked, page);
      if (own > rememberedPageMax) return page;
      if (size + own > rememberedMax) forget();
      if (known(asked) !== undefined) return page;
      const ofUrn = pages.get(asked.urn) ?? [];
      const oldest = ofUrn.length < rememberedOfUrnMax ? undefined : ofUrn.shift();
      if (oldest !== undefined) size -= sizeOf(oldest.asked, oldest.page);
      ofUrn.push({ asked, page });
      pages.set(asked.urn, ofUrn);
      size += own;
      return page;
    },
  };
}

interface Remembered {
  readonly asked: Asked;
  readonly page: Page;
}

const sizeOf = ({ urn, types }: Asked, { relationships }: Page): number =>
  relationships.reduce(
    (size, { urn: other, via = "" }) => size + other.length + via.length + 100,
    types.reduce((size, type) => size + type.length, urn.length + 200),
  );

const isSame = (one: Asked, other: Asked): boolean =>
  one.direction === other.direction &&
  one.start === other.start &&
  one.count === other.count &&
  one.types.length === other.types.length &&
  one.types.every((type, n) => type === other.types[n]);

const directions: readonly Direction[] = ["INCOMING", "OUTGOING", "UNDIRECTED"];
export const lineageDirections: readonly LineageDirection[] = ["UPSTREAM", "DOWNSTREAM"];

export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw new CatalogError("malformed", `${name} is "${value.slice(0, 120)}"`, {
    hint: `Send one of ${allowed.join(", ")}`,
  });
}

export function atLeast(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new CatalogError("malformed", `${name} is ${formatNumber(value)}`, {
    hint: value > Number.MAX_SAFE_INTEGER ? "Send a smaller one" : `Send ${least} or more`,
  });
}

function pageOf({ start = 0, count = countDefault }: { start?: number; count?: number }) {
  return {
    start: atLeast("start", start, 0),
    count: Math.min(atLeast("count", count, 0), countMax),
  };
}

/** The paths to some entities; the last ones are missing when there is no room for all. */
export function pathsOf(start: string, page: readonly Reached[]): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  let urns = 0;
  for (const reached of page) {
    urns += reached.degree + 1;
    if (urns > pathUrnsMax) break;
    paths.push(pathTo(start, reached));
  }
  return paths;
}

function relationshipOf(
  reached: Reached,
  path: readonly string[] | undefined,
  stamps: Stamps | undefined,
): LineageRelationship {
  const { urn, degree, edge, explored, truncatedChildren } = reached;
  return {
    type: edge.type,
    entity: urn,
    degree,
    degrees: [degree],
    paths: path === undefined ? [] : [path],
    createdOn: stamps?.createdOn,
    createdActor: stamps?.createdActor,
    updatedOn: stamps?.updatedOn,
    updatedActor: stamps?.updatedActor,
    isManual: isDrawn(stamps),
    explored,
    truncatedChildren,
  };
}
