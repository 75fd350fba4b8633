/** Reads the head of the log with a short timeout, for health checks and metrics. */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { ChangeLog } from "./change-log.ts";

/** Health probes time out after some seconds, and then report no cause. */
const promptMsMax = 2_000;

/** Rejects with `unavailable` after the timeout, or with the log's own error. */
export async function promptHead(
  log: Pick<ChangeLog, "head">,
  msMax: number = promptMsMax,
): Promise<Position> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new CatalogError("unavailable", `the log has not answered for ${msMax / 1_000} seconds`),
    );
  }, msMax);
  try {
    return await Promise.race([log.head(), late]);
  } finally {
    clearTimeout(timer);
  }
}
