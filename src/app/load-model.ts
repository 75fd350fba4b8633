/** Loads the model that a configuration names, and compiles the rules of the views from it. */
import type { Config } from "../config/config.ts";
import {
  defaultModelDirectory,
  loadModel,
  type ModelOptions,
  modelDirectories,
} from "../model/load-model.ts";
import type { Model } from "../model/model.ts";
import { type ViewRules, viewRules } from "./view-rules.ts";

interface ConfiguredModel {
  readonly model: Model;
  readonly rules: ViewRules;
}

/** Cache by options. The project's own model does not change while a process runs; others may. */
const own = new Map<string, ConfiguredModel>();

/** Loads the project's own model once in a process that opens several catalogs. */
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
