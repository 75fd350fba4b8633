/**
 * The recorded output of a command that is called without a process: printed lines and messages.
 */
import { type CommandOutput, printResult } from "../../src/cli/terminal/output.ts";
import type { OutputFormat } from "../../src/cli/terminal/output-flags.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

export interface RecordedOutput extends CommandOutput {
  readonly printed: string[];
  readonly messages: string[];
}

export function recordedOutput(
  output: OutputFormat = "table",
  more: Partial<Terminal> = {},
): RecordedOutput {
  const printed: string[] = [];
  const messages: string[] = [];
  const terminal: Terminal = {
    ...more,
    print: async (line) => void printed.push(line),
    note: (line) => void messages.push(line),
    startBar: () => ({ update: () => {}, stop: () => {} }),
  };
  const print: CommandOutput["print"] = (result) => printResult(result, { terminal, output });
  return { printed, messages, terminal, output, print };
}
