/** The table of settings as Markdown, for docs/settings.md. */
import {
  defaultOf,
  flagOf,
  type SettingKey,
  settingKeys,
  settings,
  variableOf,
} from "./settings.ts";

export function settingsMarkdown(): string {
  const rows = settingKeys.map((key) => {
    const { about, commands } = settings[key];
    return [
      code(flagOf(key)),
      code(variableOf(key)),
      shownDefault(key),
      about,
      commands.join(", "),
    ];
  });
  const head = ["Flag", "Variable", "Default", "What it sets", "Flag of"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n");
}

function shownDefault(key: SettingKey): string {
  const shown = defaultOf(key);
  return shown.includes(" ") || shown === "none" ? shown : code(shown);
}

const code = (text: string): string => `\`${text}\``;
