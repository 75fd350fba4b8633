/**
 * `annals check`: checks every configured store and prints the necessary repairs. With `repairIndexes` it first
 * rebuilds the indexes of the embedded log.
 */
import type { Config } from "../config/config.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { Operations } from "./operations.ts";
import type { Terminal } from "./terminal.ts";

export async function check(
  config: Config,
  { repairIndexes }: { readonly repairIndexes: boolean },
  { operations, terminal }: { operations: Operations; terminal: Terminal },
): Promise<ExitCode> {
  if (repairIndexes) {
    const { records } = await operations.repairIndexes(config);
    await terminal.print(`log  ${records} records verified, indexes rebuilt`);
  }
  let well = true;
  for (const { store, place, checking } of operations.checkStores(config)) {
    const { version, findings } = await checking;
    const verdict = findings.length === 0 ? "ok" : "to be mended";
    await terminal.print([store.padEnd(10), place, version, verdict].filter(Boolean).join("  "));
    for (const finding of findings) await terminal.print(`  - ${finding}`);
    well &&= findings.length === 0;
  }
  return well ? exitCodes.done : exitCodes.failed;
}
