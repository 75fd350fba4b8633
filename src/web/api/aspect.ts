/** The latest values of the aspects of an entity. */
import type { JsonObject } from "./json.ts";

export interface Aspect {
  readonly name: string;
  readonly value: JsonObject;
  readonly actor: string;
  readonly time: number;
  readonly version: string;
  readonly runId: string | undefined;
}

export type Aspects = ReadonlyMap<string, Aspect>;
