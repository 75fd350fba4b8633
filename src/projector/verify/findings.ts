/** Collects differences: counts all and stores the first ones of each view. */
import type { Difference } from "./differences.ts";
import { differencesMax } from "./verified-state.ts";

export interface Findings {
  add(difference: Difference): void;
  /** Adds faults of a view's store, as sentences. */
  addFaults(view: string, faults: readonly string[]): void;
  /** Numbers of missing and of unexpected rows. */
  rowCounts(view: string): { readonly missing: number; readonly unexpected: number };
  result(view: string): { readonly count: number; readonly differences: readonly Difference[] };
  /** Entities that differ, each with its views; undefined if some differences were only counted. */
  urns(): ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Replaces the differences of an entity. */
  replace(urn: string, differences: readonly Difference[]): void;
}

interface ViewFindings {
  first: Difference[];
  missing: number;
  unexpected: number;
  different: number;
}

/** `isSkipped` excludes entities of a view. */
export function createFindings(
  views: readonly string[],
  isSkipped: (view: string, urn: string) => boolean = () => false,
): Findings {
  const all = new Map<string, ViewFindings>(
    views.map((view) => [view, { first: [], missing: 0, unexpected: 0, different: 0 }]),
  );
  const findingsOf = (view: string): ViewFindings => all.get(view) ?? { ...noFindings, first: [] };
  const countOf = ({ missing, unexpected, different }: ViewFindings) =>
    missing + unexpected + different;

  function add(difference: Difference): void {
    if (isSkipped(difference.view, difference.urn)) return;
    const found = findingsOf(difference.view);
    found[difference.kind]++;
    if (found.first.length < differencesMax) found.first.push(difference);
  }

  return {
    add,
    addFaults(view, faults) {
      const found = findingsOf(view);
      for (const fault of faults) {
        found.different++;
        found.first.unshift({ view, urn: "", aspect: "", kind: "different", there: fault });
      }
    },
    rowCounts: (view) => findingsOf(view),
    result: (view) => ({ count: countOf(findingsOf(view)), differences: findingsOf(view).first }),
    urns() {
      const urns = new Map<string, Set<string>>();
      for (const [view, found] of all) {
        if (countOf(found) > found.first.length) return undefined;
        for (const { urn } of found.first) urns.set(urn, (urns.get(urn) ?? new Set()).add(view));
      }
      return urns;
    },
    replace(urn, differences) {
      for (const found of all.values()) {
        for (const one of found.first) if (one.urn === urn) found[one.kind]--;
        found.first = found.first.filter((one) => one.urn !== urn);
      }
      for (const difference of differences) add(difference);
    },
  };
}

const noFindings = { missing: 0, unexpected: 0, different: 0 };
