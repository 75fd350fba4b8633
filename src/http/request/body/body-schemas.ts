/**
 * Validators of bodies, compiled from their schemas when the first body arrives: a process never calls
 * most of its endpoints, and compiled code is large. Bodies stay unchanged: nothing is coerced, dropped
 * or filled in. The body thread validates the bodies that it reads.
 */
import { createRequire } from "node:module";
import type { ValidateFunction } from "ajv";
import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import { ReadBodyHolder } from "../../hooks/large-bodies.ts";
import type { Schema } from "../../schemas/endpoint.ts";

/** The first body loads ajv. */
const require = createRequire(import.meta.url);

const unused = (): never => {
  throw new Error("the framework compiles no schema by itself");
};

/** Replaces the framework's compilers, whose modules it would load at the start. */
export const noCompilers: FastifyServerOptions["schemaController"] = {
  compilersFactory: { buildValidator: () => unused, buildSerializer: () => unused },
};

/**
 * Throws for an invalid JSON Schema, unless `validateSchema` is false: then the schema of schemas is
 * not compiled first.
 */
export function createBodyCompiler(
  options: { readonly validateSchema?: boolean } = {},
): (schema: Schema) => ValidateFunction {
  const { validateSchema = true } = options;
  const { Ajv }: typeof import("ajv") = require("ajv");
  const ajv = new Ajv({
    addUsedSchema: false,
    meta: validateSchema,
    validateSchema,
    allowUnionTypes: true,
    // Errors carry the invalid value.
    verbose: true,
    // A first request waits for the code; V8 optimizes it, too.
    code: { optimize: false },
  });
  return (schema) => ajv.compile(schema);
}

/** Compiles with the first body. The endpoints declare the schemas; tests validate them. */
export function createLazyBodyCompiler(): FastifySchemaCompiler<Schema> {
  let compile: ReturnType<typeof createBodyCompiler> | undefined;
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const check = (body: unknown): boolean => {
      if (body instanceof ReadBodyHolder) return true;
      compile ??= createBodyCompiler({ validateSchema: false });
      compiled ??= compile(schema);
      const fits = compiled(body) === true;
      check.errors = compiled.errors;
      return fits;
    };
    check.errors = undefined as ValidateFunction["errors"];
    return check;
  };
}
