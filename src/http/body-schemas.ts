/**
 * Schemas of bodies → what checks bodies, compiled when the first body comes: most endpoints are
 * never asked in the life of a process, and compiled code is large. Bodies are taken as they are:
 * nothing is coerced, dropped or filled in.
 */
import { Ajv, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import type { Schema } from "./endpoint.ts";

const unused = (): never => {
  throw new Error("the framework compiles no schema by itself");
};

/** In the place of the framework's own compilers, which it would load to have them at hand. */
export const noCompilers: FastifyServerOptions["schemaController"] = {
  compilersFactory: { buildValidator: () => unused, buildSerializer: () => unused },
};

/** Throws for what is no JSON Schema. */
export function createBodyCompiler(): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv({
    addUsedSchema: false,
    allowUnionTypes: true,
    // Findings carry the value they found.
    verbose: true,
  });
  return (schema) => ajv.compile(schema);
}

export function createLateBodyCompiler(): FastifySchemaCompiler<Schema> {
  const compile = createBodyCompiler();
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const check = (body: unknown): boolean => {
      compiled ??= compile(schema);
      const fits = compiled(body) === true;
      check.errors = compiled.errors;
      return fits;
    };
    check.errors = undefined as ValidateFunction["errors"];
    return check;
  };
}
