/** The ports and settings that a catalog is created from. */
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { Change, PlacedChange } from "../core/change.ts";
import type { JsonLimits } from "../core/json-text.ts";
import type { PatchRules } from "../core/patch.ts";
import type { UrnLimits } from "../core/urn.ts";
import type { GraphReader } from "../graph/graph.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { Progress, Restoration } from "../projector/progress.ts";
import type { Projection } from "../projector/sink.ts";
import type { TimeseriesReader, TimeseriesWrite } from "../timeseries/timeseries-table.ts";
import type { ValueThread } from "./computed-ahead.ts";
import type { LineageSteps } from "./lineage.ts";
import type { ReferencePaths } from "./references.ts";
import type { StatedEdges } from "./restore-edges.ts";
import type { SearchParts } from "./searches.ts";

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
