/** The table of settings as Markdown. docs/settings.md has it between the markers of `settingsSection`. */
import {
  defaultOf,
  flagOf,
  type SettingKey,
  settingKeys,
  settings,
  variableOf,
} from "./settings.ts";

const begin = "<!-- settings -->";
const end = "<!-- /settings -->";

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

/** The table that a document holds between the markers; undefined when it has no markers. */
export function settingsSection(document: string): string | undefined {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  return from < 0 || to < from ? undefined : document.slice(from + begin.length, to).trim();
}

function shownDefault(key: SettingKey): string {
  const shown = defaultOf(key);
  return shown.includes(" ") || shown === "none" ? shown : code(shown);
}

const code = (text: string): string => `\`${text}\``;
