/** Entities that a walk of the lineage does not count as hops. */
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import type { IgnoredHops } from "../search/requests.ts";

/** The first platform that a urn names: by its urn, or as the tool of a chart, dashboard or flow. */
const PLATFORM = /urn:[^:]*:(?:dataPlatform:([^,()]+)|(?:chart|dashboard|dataFlow):\(([^,]+),)/;

/** The urn of the platform of an entity, or of the dataset or flow that the entity is a part of. */
function platformOf(urn: string, namespace: string): string {
  const [, platform, tool = ""] = PLATFORM.exec(urn) ?? [];
  return `urn:${namespace}:dataPlatform:${platform ?? tool.toLowerCase()}`;
}

export function ignoredHops(
  ignored: readonly IgnoredHops[] | undefined,
  namespace: string,
): ((urn: string) => boolean) | undefined {
  if (ignored === undefined || ignored.length === 0) return undefined;
  const byType = new Map(
    Array.from(
      Map.groupBy(ignored, ({ entityType }) => entityType),
      ([entityType, own]) => {
        const platforms = own.map((one) => one.platforms ?? []);
        const named = platforms.flat().map((platform) => withNamespace(platform, namespace));
        const all = platforms.some(({ length }) => length === 0);
        return [entityType, all ? "all" : new Set(named)] as const;
      },
    ),
  );
  return (urn) => {
    const platforms = byType.get(entityTypeOf(urn));
    if (platforms === undefined || platforms === "all") return platforms === "all";
    return platforms.has(platformOf(urn, namespace));
  };
}
