/** The result of a command in the format that its output flags name. */
import { stringify } from "yaml";
import { UsageError } from "../failure.ts";
import { type OutputFlags, type OutputFormat, outputOf } from "./output-flags.ts";
import { type TableCell, table, wrap } from "./table.ts";
import { quiet, type Terminal } from "./terminal.ts";

export * from "./output-flags.ts";

/** Where a command writes, as its output flags say. */
export interface CommandOutput {
  readonly terminal: Terminal;
  readonly output: OutputFormat;
  print(result: Result): Promise<void>;
}

export function commandOutput(flags: OutputFlags, terminal: Terminal): CommandOutput {
  const output = outputOf(flags);
  const spoken = flags.quiet ? quiet(terminal) : terminal;
  return {
    ...{ terminal: spoken, output },
    print: (result) => printResult(result, { terminal: spoken, output }),
  };
}

interface Result {
  /** The data of the result: all that JSON and YAML show. */
  readonly value: unknown;
  /** The urns of the result, one a line. Absent: it has none. */
  readonly urns?: readonly string[] | undefined;
  /** For people: a table, or a text. */
  readonly table:
    | string
    | { readonly heads: readonly string[]; readonly rows: readonly (readonly TableCell[])[] };
  /** Printed in place of a table without rows, to stderr. */
  readonly none?: string | undefined;
  /** The text is input of another program: it is never wrapped. */
  readonly verbatim?: boolean | undefined;
}

export async function printResult(
  { value, urns, table: shown, none, verbatim = false }: Result,
  { terminal, output }: { readonly terminal: Terminal; readonly output: OutputFormat },
): Promise<void> {
  switch (output) {
    case "json":
      return terminal.print(JSON.stringify(value, undefined, terminal.isInteractive ? 2 : 0));
    case "yaml":
      return terminal.print(yamlOf(value));
    case "urns":
      if (urns === undefined) throw new UsageError("the result has no urns: use another --output");
      for (const urn of urns) await terminal.print(urn);
      return;
    case "table":
      if (typeof shown === "string") {
        const width = verbatim ? Infinity : (terminal.width ?? Infinity);
        if (shown !== "") await terminal.print(wrap(shown, width).join("\n"));
      } else if (shown.rows.length > 0) {
        await terminal.print(tableOf(shown.heads, shown.rows, terminal));
      } else if (none !== undefined) terminal.note(none);
  }
}

/** Block style, as people write it; long texts stay on one line. */
export const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd();

function tableOf(
  heads: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { width, styled }: Terminal,
): string {
  const [head = "", ...rest] = table(heads, rows, width).split("\n");
  // Where rows became blocks, the first line is data.
  if (!head.startsWith(`${heads[0]} `) && head !== heads[0]) return [head, ...rest].join("\n");
  return [styled?.("bold", head) ?? head, ...rest].join("\n");
}

/** `2026-11-26 13:38:22Z` */
export const timeOf = (millis: number): string =>
  `${new Date(millis).toISOString().slice(0, 19).replace("T", " ")}Z`;
