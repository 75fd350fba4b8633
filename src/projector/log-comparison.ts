/**
 * Compares views with the log that they are built from. A checkpoint names the last record that it
 * covers. If the log does not have that record, the log was replaced by an older copy or by another
 * log. The view then stops until the original log is back or the view is rebuilt.
 *
 * Views are compared at the start, once a minute, and after a failed read of the log. After a
 * failed read, they apply no records before the comparison. Each comparison opens the log again, so
 * that it detects a replaced file.
 * A replaced file stays a mismatch until a restart: this process has the deleted file open.
 */
import { CatalogError, isUnreadable } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { ownCommand } from "../lib/command-hint.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { holdsRecord, parseRecordName } from "../log/record-name.ts";
import type { View } from "./sink.ts";
import type { RetryMs } from "./view-state.ts";

type ComparedLog = Pick<
  ChangeLog,
  "id" | "readStream" | "firstKept" | "disconnections" | "replaced"
>;

interface Compared {
  readonly view: View;
  readonly position: Position;
  /** Name of the record at the position if this process applied it; otherwise the sink has it. */
  readonly record: string | undefined;
  /** The error if the view was not built from this log. */
  mismatch: CatalogError | undefined;
  /** True if the view must be compared before it applies records. */
  unchecked: boolean;
}

interface LogComparison {
  /** Throws `unavailable` for the first view that does not belong to the log. */
  atStart(): Promise<void>;
  /** Starts a comparison when one is due. */
  compareIfDue(): void;
  /** After a failure of the log: views are compared again before they apply records. */
  markUnchecked(): void;
  /** True if the connection was lost since the last call; then it also calls `markUnchecked`. */
  hasReconnected(): boolean;
  /** Makes a comparison due at the next check. */
  compareSoon(): void;
  /** Resolves when no comparison is running. */
  whenIdle(): Promise<void>;
}

interface Parts<F extends Compared> {
  readonly viewStates: readonly F[];
  readonly log: ComparedLog;
  /** Opens the log for a comparison; when absent, `log` is used. */
  readonly openLog: (() => Promise<ComparedLog & Pick<ChangeLog, "close">>) | undefined;
  /** Milliseconds between comparisons. */
  readonly everyMs: number;
  /** First and maximum pause before the retry of a failed comparison. */
  readonly retryMs: RetryMs;
  /** Called when the log cannot be read. */
  readonly onFailure: (viewState: F, error: unknown) => void;
  /** Called after each comparison. */
  readonly onCompared: () => void;
}

export function createLogComparison<F extends Compared>(parts: Parts<F>): LogComparison {
  const { viewStates, log, openLog, everyMs, retryMs } = parts;
  let due = performance.now() + everyMs;
  /** Earliest time of the next comparison after a failed one. */
  let notBefore = Number.NEGATIVE_INFINITY;
  let pauseMs = 0;
  let disconnections = log.disconnections?.() ?? 0;

  function markUnchecked(): void {
    for (const viewState of viewStates) viewState.unchecked = true;
  }
  let running: Promise<void> | undefined;

  async function nameOf({ view, position, record }: F): Promise<string | undefined> {
    if (record !== undefined && parseRecordName(record).position === position) return record;
    return view.sink.lastRecord?.();
  }

  /** A view whose store is unavailable stays unchecked. */
  async function compare(viewState: F, fresh: ComparedLog): Promise<void> {
    let name: string | undefined;
    try {
      name = await nameOf(viewState);
    } catch {
      viewState.unchecked = true;
      return;
    }
    viewState.mismatch = await mismatchOf(viewState.view.name, name, fresh);
    viewState.unchecked = false;
  }

  /** A log with damaged indexes does not stop the start: the view is compared again later. */
  async function compareAtStart(viewState: F): Promise<void> {
    try {
      await compare(viewState, log);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      viewState.unchecked = true;
    }
  }

  async function mismatchOf(view: string, name: string | undefined, fresh: ComparedLog) {
    const replaced = log.replaced?.();
    if (replaced !== undefined) return replaced;
    const isOther = fresh.id !== undefined && log.id !== undefined && fresh.id !== log.id;
    if (isOther) return anotherLog(view);
    const record = name === undefined ? undefined : parseRecordName(name);
    if (record === undefined || (await holdsRecord(fresh, record))) return undefined;
    return notInLog(view, record);
  }

  async function compareAll(): Promise<void> {
    const fresh = await openLog?.();
    try {
      await Promise.all(viewStates.map((viewState) => compare(viewState, fresh ?? log)));
    } finally {
      await fresh?.close();
    }
  }

  async function run(): Promise<void> {
    due = performance.now() + everyMs;
    try {
      await compareAll();
      pauseMs = 0;
      // A stopped view reads no records: only a comparison detects that the original log is back.
      const stopped = viewStates.some(({ mismatch }) => mismatch !== undefined);
      if (stopped) due = performance.now() + Math.min(everyMs, retryMs.max);
    } catch (error) {
      pauseMs = Math.min(Math.max(pauseMs * 2, retryMs.first), retryMs.max);
      notBefore = performance.now() + pauseMs;
      due = 0;
      for (const viewState of viewStates) {
        viewState.unchecked = true;
        parts.onFailure(viewState, error);
      }
    }
    running = undefined;
    parts.onCompared();
  }

  return {
    async atStart() {
      await Promise.all(viewStates.map(compareAtStart));
      const wrong = viewStates.find(({ mismatch }) => mismatch !== undefined);
      if (wrong?.mismatch !== undefined) throw wrong.mismatch;
    },
    compareIfDue() {
      const now = performance.now();
      if (running === undefined && now >= due && now >= notBefore) running = run();
    },
    markUnchecked,
    hasReconnected() {
      const now = log.disconnections?.() ?? 0;
      if (now === disconnections) return false;
      disconnections = now;
      markUnchecked();
      return true;
    },
    compareSoon() {
      due = 0;
    },
    whenIdle: async () => running,
  };
}

const RECOVERY = `The log was replaced by an older copy or by another log. Stop the service and restore the newer log; or, if this log is the right one, run: ${ownCommand("rebuild")}`;

const notInLog = (
  view: string,
  { position, stream }: ReturnType<typeof parseRecordName>,
): CatalogError =>
  new CatalogError(
    "unavailable",
    `the log does not hold the record at position ${position} of stream "${stream}", which the view "${view}" covers last`,
    { hint: RECOVERY },
  );

const anotherLog = (view: string): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" was built from another log`, {
    hint: RECOVERY,
  });
