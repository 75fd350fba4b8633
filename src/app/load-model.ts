/** The model that a configuration names, with what views are made of by it. */
import type { Config } from "../config/config.ts";
import {
  defaultModelDirectory,
  loadModel,
  type ModelOptions,
  modelDirectories,
} from "../model/load-model.ts";
import type { Model } from "../model/model.ts";
import { type ViewRules, viewRules } from "./view-rules.ts";

export interface ConfiguredModel {
  readonly model: Model;
  readonly rules: ViewRules;
}

/** By options. The project's own does not change while a process runs; other directories may. */
const own = new Map<string, ConfiguredModel>();

/** A process that opens several catalogs of the project's own model reads it once. */
export function configuredModel(config: Config): ConfiguredModel {
  const options = modelOptions(config);
  const key = JSON.stringify(options);
  const found = own.get(key) ?? read(options);
  if (config.model === defaultModelDirectory && config.modelExtension.length === 0) {
    own.set(key, found);
  }
  return found;
}

function read(options: ModelOptions): ConfiguredModel {
  const model = loadModel(options);
  return { model, rules: viewRules(model) };
}

const modelOptions = (config: Config): ModelOptions => ({
  directories: modelDirectories(config.model, config.modelExtension),
  prefix: config.recordPrefix,
  namespace: config.urnNamespace,
});
