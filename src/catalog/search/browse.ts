/**
 * Browsing: the folders and the entities of one level. A path names the folder that holds an
 * entity. The older tree (browsePaths) joins folders by "/", the newer one (browsePathsV2) by "␟";
 * folders of the newer one may be entities.
 */
import { slashedPath } from "../../core/query/browse-path.ts";
import type { Condition, Scope } from "../../views/search/search.ts";
import { everyOf } from "./filter/conditions.ts";
import type { CompiledFilter } from "./filter/filter.ts";
import type { BrowsePage, BrowseV2Page, SearchCatalog } from "./requests.ts";
import {
  countOf,
  planSearch,
  type SearchTools,
  startOf,
  typesNamed,
  visibleByDefault,
} from "./search.ts";

const PATHS = "browsePaths";
const PATHS_V2 = "browsePathV2";
const SEPARATOR_V2 = "␟";

export function createBrowse(tools: SearchTools): Pick<SearchCatalog, "browse" | "browseV2"> {
  const { fields, fieldsOf, filters, reader } = tools;

  function scopeOf(
    entityTypes: readonly string[],
    conditions: readonly (Condition | undefined)[],
  ): Scope {
    return {
      entityTypes,
      expression: { kind: "all" },
      condition: everyOf(conditions.filter((one) => one !== undefined)),
    };
  }

  return {
    async browse(request): Promise<BrowsePage> {
      const entityTypes = typesNamed([request.entity], fields);
      const from = startOf(request.start);
      const pageSize = countOf(request.limit);
      const filter: CompiledFilter = await filters.compile(request.filter, {
        fields: await fieldsOf(request),
      });
      const path = pathOf(request.path);
      const { flags = {} } = request;
      const visible = [
        filter.condition,
        await visibleByDefault(tools, { entityTypes, filter, flags }),
      ];
      const scope = scopeOf(entityTypes, visible);
      const below = await reader.folders({ ...scope, field: PATHS, separator: "/", path });
      const groups = below.folders.slice(from, from + pageSize);
      const here: Condition = { kind: "equal", field: PATHS, values: [path === "" ? "/" : path] };
      const inside = await reader.search({
        ...scopeOf(entityTypes, [here, ...visible]),
        sort: [],
        start: Math.max(0, from - below.folders.length),
        count: pageSize - groups.length,
        facets: [],
        urnsOnly: true,
      });
      return {
        path,
        from,
        pageSize,
        groups: groups.map(({ name, count }) => ({ name, count })),
        entities: inside.hits.map(({ document }) => document.urn),
        numGroups: below.folders.length,
        numEntities: inside.total,
        totalNumEntities: below.total,
        position: below.position < inside.position ? below.position : inside.position,
      };
    },

    async browseV2(request): Promise<BrowseV2Page> {
      const { path, start: requestedStart, count: requestedCount, ...search } = request;
      const start = startOf(requestedStart);
      const count = countOf(requestedCount);
      const { scope } = await planSearch(tools, {
        ...search,
        flags: { ...search.flags, skipAggregates: true },
      });
      const inPath = path === "" || path.startsWith(SEPARATOR_V2) ? path : `${SEPARATOR_V2}${path}`;
      const below = await reader.folders({
        ...scope,
        field: PATHS_V2,
        separator: SEPARATOR_V2,
        path: inPath,
      });
      return {
        path: inPath,
        start,
        count,
        total: below.folders.length,
        groups: below.folders.slice(start, start + count).map((folder) => ({
          name: folder.name,
          count: folder.count,
          hasSubGroups: folder.hasFolders,
          ...(folder.name.startsWith("urn:") && { entity: folder.name }),
        })),
        totalNumEntities: below.total,
        position: below.position,
      };
    },
  };
}

/** Normalizes slashes: `/prod/hive`. The root is "". */
function pathOf(text: string): string {
  const path = slashedPath(text);
  return path === "/" ? "" : path;
}
