/** Declares query parameters of endpoints, by their type. */
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
