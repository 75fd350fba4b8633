/** Declares parameters of endpoints: those of queries by their type, and those of paths. */
import type { Parameter } from "./endpoint.ts";

const parameter =
  (type: Parameter["type"]) =>
  (name: string, about: string, more?: Pick<Parameter, "required" | "values">): Parameter => ({
    ...{ name, in: "query", type, ...more, about },
  });

export const query = {
  string: parameter("string"),
  strings: parameter("strings"),
  long: parameter("long"),
  boolean: parameter("boolean"),
};

/** The value of a `{name}` in the path. */
export const inPath = (name: string, about: string): Parameter => ({
  ...{ name, in: "path", type: "string", required: true, about },
});
