/**
 * `annals check`: checks every configured store and prints the necessary repairs. With `repairIndexes` it first
 * rebuilds the indexes of the embedded log.
 */
import type { Config } from "../../config/config.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import type { ProcessOperations } from "../operations.ts";
import type { CommandOutput } from "../terminal/output.ts";

export async function check(
  config: Config,
  { repairIndexes }: { readonly repairIndexes: boolean },
  {
    operations,
    terminal,
    output,
    print,
  }: CommandOutput & { readonly operations: ProcessOperations },
): Promise<ExitCode> {
  // Stores are checked one after another, and one that does not answer takes seconds: the table shows
  // each result at once.
  const show = async (line: string): Promise<void> => {
    if (output === "table") await terminal.print(line);
  };
  const indexes = repairIndexes ? await operations.repairIndexes(config) : undefined;
  if (indexes !== undefined) {
    await show(`log  ${indexes.records} records verified, indexes rebuilt`);
  }
  const stores: object[] = [];
  let ok = true;
  for (const { store, place, checking } of await operations.checkStores(config)) {
    const { version, findings } = await checking;
    const verdict = findings.length === 0 ? "ok" : "to be repaired";
    await show([store.padEnd(10), place, version, verdict].filter(Boolean).join("  "));
    for (const finding of findings) await show(`  - ${finding}`);
    stores.push({ store, place, version, findings });
    ok &&= findings.length === 0;
  }
  await print({ value: { ok, stores, ...(indexes !== undefined && { indexes }) }, table: "" });
  return ok ? exitCodes.done : exitCodes.failed;
}
