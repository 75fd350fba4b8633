/**
 * Opens the stored results of verifications, and names the module that verifies. Separate from app/verification/verified-views.ts, so
 * that a start does not load the code of verification.
 */
import { join } from "node:path";
import type { VerifiedState } from "../../projector/verify/verified-state.ts";
import { openSqliteVerifiedState } from "../../storage/sqlite/sqlite-verified-state.ts";
import type { StoresConfig } from "../stores.ts";

/** For threads: the module with verifyStoredViews. */
export const verifyModule = { module: new URL("./verified-views.ts", import.meta.url).href };

const stateFile = (config: Pick<StoresConfig, "data">): string =>
  join(config.data, "verify.sqlite");

export function openVerifiedState(config: StoresConfig): VerifiedState {
  const log = config.origin?.id ?? "";
  return openSqliteVerifiedState(stateFile(config), {
    log,
    model: config.rules.fingerprint,
  });
}
