/** Where the log ends, for those that must not wait: health checks and numbers. */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { ChangeLog } from "./change-log.ts";

/** Probes of health give up after some seconds, and then say nothing of why. */
const promptMsMax = 2_000;

/** Rejects `unavailable` when the log does not answer soon, and with what it rejects with. */
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
