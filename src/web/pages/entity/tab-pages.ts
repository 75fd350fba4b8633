/** The tabs of an entity page, whose code loads on demand. */
import { lazyRouteComponent } from "@tanstack/react-router";

export const DocumentationTab = lazyRouteComponent(() => import("./documentation-tab.tsx"));
export const ColumnsTab = lazyRouteComponent(() => import("./columns-tab.tsx"));
export const LineageTab = lazyRouteComponent(() => import("./lineage/lineage-tab.tsx"));
export const RelationshipsTab = lazyRouteComponent(
  () => import("./relationships/relationships-tab.tsx"),
);
export const HistoryTab = lazyRouteComponent(() => import("./history/history-tab.tsx"));
export const QualityTab = lazyRouteComponent(() => import("./quality/quality-tab.tsx"));
export const AspectsTab = lazyRouteComponent(() => import("./aspects-tab.tsx"));

interface Preloaded {
  /** Undefined once the code is loaded. */
  readonly preload?: (() => Promise<void> | undefined) | undefined;
}

const tabs = new Map<string, Preloaded>([
  ["columns", ColumnsTab],
  ["lineage", LineageTab],
  ["relationships", RelationshipsTab],
  ["history", HistoryTab],
  ["quality", QualityTab],
  ["aspects", AspectsTab],
]);

/** Loads the code of a tab; an unknown name leads to the documentation, as in the page. */
export const preloadTab = async (name: string | undefined): Promise<void> =>
  await (tabs.get(name ?? "") ?? DocumentationTab).preload?.();
