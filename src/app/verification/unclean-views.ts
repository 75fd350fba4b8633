/**
 * Finds damage in the files of views after an unclean stop: SQLite's integrity check runs on each of them in a process
 * at low priority, one after the other, while the service answers. A damaged view answers 503 and is rebuilt by a
 * job (jobs/auto-rebuild.ts). Values that differ although the file is well-formed are found by verification.
 */
import { existsSync, statSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import { checkInProcess } from "../../storage/sqlite/check-process.ts";
import { liveFile } from "../../storage/sqlite/generations.ts";
import type { Logger } from "../../telemetry/logger.ts";
import {
  fileOf,
  foldedViews,
  type StoreLocations,
  sharedView,
  type ViewName,
  viewNames,
} from "../store-locations.ts";

/** Views in the data directory whose last writer did not close them: their write-ahead logs are not empty. */
export function uncleanViews(config: StoreLocations): readonly ViewName[] {
  return viewNames.filter((view) => {
    if (sharedView(config, view)) return false;
    const log = `${liveFile(fileOf(config, view))}-wal`;
    return existsSync(log) && statSync(log).size > 0;
  });
}

const checkModule = new URL("../../storage/sqlite/view-check-process.ts", import.meta.url);

/** Starts the checks. `onDamaged` is called with each damaged view and the views that are built from it. */
export function checkViews(
  config: StoreLocations,
  views: readonly ViewName[],
  {
    onDamaged,
    logger,
  }: {
    readonly onDamaged: (views: readonly ViewName[]) => void;
    readonly logger: Pick<Logger, "warn" | "info">;
  },
): { close(): Promise<void> } {
  const closing = new AbortController();

  async function check(view: ViewName): Promise<void> {
    const file = liveFile(fileOf(config, view));
    const finding = await checkInProcess(checkModule, [file], closing.signal);
    // A rebuilt view may have replaced the file meanwhile.
    if (finding === undefined || liveFile(fileOf(config, view)) !== file) return;
    logger.warn({ view, finding }, "the view failed SQLite's integrity check; it is rebuilt");
    onDamaged(foldedViews.has(view) ? [view] : [view, ...foldedViews]);
  }

  async function checkAll(): Promise<void> {
    for (const view of views) {
      if (closing.signal.aborted) return;
      try {
        await check(view);
      } catch (error) {
        if (closing.signal.aborted) return;
        logger.warn({ view, reason: messageOf(error) }, "the view could not be checked");
      }
    }
  }

  const checked = checkAll();
  return {
    close() {
      closing.abort();
      return checked;
    },
  };
}
