/** A tool: a function of the catalog that a language model can call. */
import type { z } from "zod";
import type { Catalog } from "../catalog/catalog.ts";
import type { Position } from "../core/position.ts";

export interface ToolContext {
  /** The catalog as the caller may read it. */
  readonly catalog: Catalog;
  /** Entity types of the model. */
  readonly entityTypes: readonly string[];
  /**
   * Runs a GraphQL mutation as the caller and returns the position of its write. Rejects a
   * RejectedMutation. Absent where tools only read.
   */
  readonly mutate?:
    | ((
        query: string,
        variables: Readonly<Record<string, unknown>>,
      ) => Promise<Position | undefined>)
    | undefined;
}

/** The message of the first error of a mutation. */
export class RejectedMutation extends Error {}

export interface Tool {
  /** Unique, in snake case. */
  readonly name: string;
  readonly title: string;
  /** When to use the tool and what it returns. */
  readonly description: string;
  /** Schemas of the arguments by name. */
  readonly input: Readonly<Record<string, z.ZodType>>;
  /** Returns a JSON value; rejects with a CatalogError. `values` fit the schemas. */
  run(values: Readonly<Record<string, unknown>>, context: ToolContext): Promise<object>;
}

/** Declares a tool whose implementation gets its arguments with their types. */
export function defineTool<Input extends Readonly<Record<string, z.ZodType>>>(tool: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  run(values: z.infer<z.ZodObject<Input>>, context: ToolContext): Promise<object>;
}): Tool {
  return tool as Tool;
}
