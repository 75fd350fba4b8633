/**
 * Finds damaged views in files before anything opens them: those whose pages differ from their checksums
 * (projector/sqlite/page-sums.ts), and those without such checksums that SQLite's integrity check
 * rejects after an unclean stop. A disk that returns other bytes than it was given, a copy that went
 * wrong, or a write by hand causes this.
 */
import { existsSync, statSync } from "node:fs";
import { CatalogError, saidBy } from "./core/errors.ts";
import { foldedViews } from "./growth-plan.ts";
import { fileInPlace, setAside } from "./projector/sqlite/editions.ts";
import { believePages, changedPages } from "./projector/sqlite/page-sums.ts";
import { damaged, isSqliteError } from "./projector/sqlite/sqlite-errors.ts";
import { PAGE_BYTES } from "./projector/sqlite/sqlite-view.ts";
import { sumsOf } from "./projector/sqlite/sums-file.ts";
import { findPosition, unsoundness } from "./projector/sqlite/view-tables.ts";
import { countOf } from "./projector/verify/repair.ts";
import { type StoresConfig, sharedView, type ViewName, viewFile, viewNames } from "./stores.ts";
import type { Logger } from "./telemetry/logger.ts";

/**
 * Sets aside those that are damaged, or say something else than the log (`aside`); they are grown
 * again from it when they are opened. One that is sound and says what the log does stays, and so does
 * one of which that cannot be told (`changed`).
 */
export async function setChangedAside(
  config: StoresConfig,
  logger: Pick<Logger, "warn" | "info">,
): Promise<{ readonly aside: readonly ViewName[]; readonly changed: readonly ViewName[] }> {
  const aside: ViewName[] = [];
  const changed: ViewName[] = [];
  for (const view of viewNames) {
    if (sharedView(config, view)) continue;
    const file = fileInPlace(viewFile(config, view));
    const pages = pagesOf(file);
    // It may have been made of the damaged values of the others.
    const isMadeOfThem =
      foldedViews.has(view) && aside.length + changed.length > 0 && existsSync(file);
    if (pages.length > 0) logger.warn({ view, pages: pages.length }, otherPages);
    else if (isMadeOfThem) logger.warn({ view }, madeOfOthers);
    const isSuspect = pages.length > 0 || isMadeOfThem;
    const why = isSuspect ? await faultOf(config, view, file) : faultAfterStop(file);
    if (why instanceof Error) {
      logger.warn({ view, err: why }, "the view could not be compared with the log");
      changed.push(view);
      continue;
    }
    if (why === undefined) {
      if (pages.length > 0) believePages(file, pages);
      if (isSuspect) logger.info({ view }, "the view says what the log does");
      continue;
    }
    logger.warn({ view, why }, "the view is not what the log says");
    setAside(viewFile(config, view));
    aside.push(view);
  }
  return { aside, changed };
}

const otherPages =
  "pages of the view are not as they were written; it is compared with the log before it is read";
const madeOfOthers =
  "the view may be made of pages that are not as they were written; it is compared with the log before it is read";

function pagesOf(file: string): readonly number[] {
  if (!existsSync(sumsOf(file))) return [];
  try {
    return changedPages(file, PAGE_BYTES);
  } catch {
    // It cannot be read or written: whoever opens it is told why.
    return [];
  }
}

/**
 * Runs SQLite's integrity check on a file without checksums of pages whose last writer did not close it:
 * its write-ahead log is not empty. Returns the damage.
 */
function faultAfterStop(file: string): string | undefined {
  const log = `${file}-wal`;
  if (existsSync(sumsOf(file)) || !existsSync(file)) return undefined;
  try {
    return existsSync(log) && statSync(log).size > 0 ? unsoundness(file) : undefined;
  } catch (error) {
    // Opening the view reports any other error.
    return isSqliteError(error) && damaged(error) ? saidBy(error) : undefined;
  }
}

/** What is wrong with a view; an error: whether it is any good is for those to say who open it. */
async function faultOf(
  config: StoresConfig,
  view: ViewName,
  file: string,
): Promise<string | Error | undefined> {
  try {
    const unsound = unsoundness(file);
    if (unsound !== undefined) return unsound;
    // All that is left of a log that was lost.
    if ((findPosition(file) ?? 0) > (config.origin?.head ?? 0)) {
      return new CatalogError("unavailable", "the view is beyond the end of the log");
    }
    const { spareThreads, verifyStoredViews } = await import("./verified-views.ts");
    const { views } = await verifyStoredViews(config, {
      views: [view],
      grade: "full",
      forgotten: true,
      threads: spareThreads(),
    });
    const found = countOf(views);
    return found === 0 ? undefined : `${found} differences`;
  } catch (error) {
    const cause = error instanceof CatalogError ? error.cause : error;
    return isSqliteError(cause) && damaged(cause) ? saidBy(cause) : (error as Error);
  }
}
