/** `annals check`: asks every store that is configured, and says what is to be mended. */
import type { Config } from "../config/config.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { Operations } from "./operations.ts";
import type { Terminal } from "./terminal.ts";

export async function check(
  config: Config,
  { operations, terminal }: { operations: Operations; terminal: Terminal },
): Promise<ExitCode> {
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
