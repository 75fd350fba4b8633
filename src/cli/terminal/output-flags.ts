/** The output flags that every command has. */
import { type Command, Option } from "commander";

export const outputFormats = ["table", "json", "yaml", "urns"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The formats of a result that contains no urns. */
export const formatsWithoutUrns = outputFormats.filter((format) => format !== "urns");

export interface OutputFlags {
  readonly output: OutputFormat;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Adds `--output`, `--json` and `--quiet`, in a group of their own at the end of the help. */
export function addOutputFlags(
  command: Command,
  formats: readonly OutputFormat[],
  group = "Output:",
): Command {
  const options = [
    new Option("--output <format>", "format of the output").choices(formats).default("table"),
    new Option("--json", "short for --output json").default(false),
    new Option(
      "--quiet",
      "print the result alone: no messages about the work, no progress",
    ).default(false),
  ];
  for (const option of options) command.addOption(option.helpGroup(group));
  return command;
}

export const outputOf = ({ json, output }: Omit<OutputFlags, "quiet">): OutputFormat =>
  json ? "json" : output;
