/** `annals settings`: every setting with its value and its source. */
import { explainConfig } from "../../config/config.ts";
import { flagOf } from "../../config/settings.ts";
import { settingsMarkdown } from "../../config/settings-table.ts";
import { asUsage, UsageError } from "../failure.ts";
import type { CommandOutput } from "../terminal/output.ts";

export async function printSettings(
  { markdown }: { readonly markdown: boolean },
  { terminal, output, print }: Pick<CommandOutput, "terminal" | "output" | "print">,
): Promise<void> {
  if (markdown) {
    if (output !== "table") throw new UsageError(`Use either --markdown or --output ${output}`);
    return terminal.print(settingsMarkdown());
  }
  const settings = asUsage(() => explainConfig({})).map(({ key, value, source }) => ({
    ...{ setting: flagOf(key).slice(2), value, source },
  }));
  const rows = settings.map(({ setting, value, source }) => [setting, value, source]);
  await print({ value: settings, table: { heads: ["SETTING", "VALUE", "SOURCE"], rows } });
}
