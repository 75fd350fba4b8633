/** The project's own model, loaded once per test file. */
import { loadModel } from "../../src/model/load-model.ts";
import type { Aspect, Model } from "../../src/model/model.ts";

export const defaultModel = loadModel();

export function aspectNamed(name: string, model: Model = defaultModel): Aspect {
  const aspect = model.aspects.get(name);
  if (aspect === undefined) throw new Error(`the model has no aspect "${name}"`);
  return aspect;
}
