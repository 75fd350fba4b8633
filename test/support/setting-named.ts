import { type SettingKey, settingKeys, variableOf } from "../../src/config/settings.ts";

/** The setting of an environment variable; undefined if no setting has it. */
export const settingNamed = (variable: string): SettingKey | undefined =>
  settingKeys.find((key) => variableOf(key) === variable);
