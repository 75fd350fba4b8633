/** The ports and settings that a catalog is created from. */

import type { Change, PlacedChange } from "../core/change.ts";
import type { JsonLimits } from "../core/json-text.ts";
import type { PatchRules } from "../core/patch/patch.ts";
import type { UrnLimits } from "../core/urn.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { Projection } from "../projector/sink.ts";
import type { Progress, Restoration } from "../projector/thread/progress.ts";
import type { AspectReader } from "../views/aspects/aspect-table.ts";
import type { GraphReader } from "../views/graph/graph.ts";
import type { TimeseriesReader, TimeseriesWrite } from "../views/timeseries/timeseries-table.ts";
import type { LineageSteps } from "./graph/lineage.ts";
import type { StatedEdges } from "./graph/restore-edges.ts";
import type { ReferencePaths } from "./references/references.ts";
import type { SearchParts } from "./search/create-search.ts";
import type { ValueThread } from "./write/computed-ahead.ts";

export interface CatalogParts {
  readonly model: Model;
  readonly patchRules: PatchRules;
  readonly valueThread?: ValueThread | undefined;
  readonly log: ChangeLog;
  readonly encode: (change: Change) => Uint8Array;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
  readonly graph: GraphReader;
  readonly lineage: LineageSteps;
  readonly references: ReferencePaths;
  /** The projection of the timeseries view. */
  readonly projectTimeseries: Projection<TimeseriesWrite>;
  /** The graph projection, for restoring edges. */
  readonly statedEdges: StatedEdges;
  readonly search: SearchParts;
  readonly progress: Progress & Pick<Restoration, "restorations" | "onRestored">;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly aspectBytesMax: number;
  /** Limits of JSON texts in proposals; the defaults when absent. */
  readonly jsonLimits?: JsonLimits | undefined;
  readonly cacheBytesMax: number;
  /** True if other processes write to the log, too. */
  readonly sharedLog: boolean;
  /** Records that the aspect view may be behind before writes wait for it. */
  readonly lagMax: number;
  /** Milliseconds that a read waits for a view. */
  readonly waitMsMax: number;
  readonly now: () => number;
  readonly onContradictedKey: (urn: string) => void;
}
