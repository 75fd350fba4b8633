/**
 * The examples of the documentation, by endpoint. They lie in examples/, one file for each group of
 * endpoints, and are read only when the OpenAPI document or the documentation page is rendered.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { assert } from "../../core/errors.ts";
import { type Endpoint, endpointId, type Schema } from "../schemas/endpoint.ts";

export interface Example {
  /** With its query, as it follows the host. */
  readonly path: string;
  /** The acting user, where the response depends on it. */
  readonly actor?: string;
  readonly body?: Schema | readonly (Schema | string)[];
  /** Undefined: an empty body. A string: text that is not JSON. */
  readonly response?: unknown;
}

export type ExampleOf = (endpoint: Endpoint) => Example;

/** Reads all examples. The returned function throws for an endpoint that has none. */
export function readExamples(): ExampleOf {
  const folder = fileURLToPath(new URL("./examples/", import.meta.url));
  const examples = new Map<string, Example>();
  for (const file of readdirSync(folder)) {
    const group: object = JSON.parse(readFileSync(`${folder}${file}`, "utf8"));
    for (const [id, example] of Object.entries(group)) examples.set(id, example);
  }
  return (endpoint) => {
    const example = examples.get(endpointId(endpoint));
    assert(example !== undefined, `${endpointId(endpoint)} has an example`);
    const { exampleResponse } = endpoint;
    return exampleResponse === undefined ? example : { ...example, response: exampleResponse };
  };
}
