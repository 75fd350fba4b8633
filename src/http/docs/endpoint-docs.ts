/**
 * The documentation of the endpoints: texts, responses, errors and examples. It lies in endpoints/, one file for
 * each group of endpoints, and is read only when the OpenAPI document or the documentation page is rendered.
 */
import { readdirSync, readFileSync } from "node:fs";
import { assert, type ErrorCode } from "../../core/errors.ts";
import { ownValue } from "../../lib/own-value.ts";
import { type Endpoint, endpointId, type Schema } from "../schemas/endpoint.ts";

export interface ErrorCase {
  readonly code: ErrorCode;
  readonly when: string;
}

export interface Example {
  /** With its query, as it follows the host. */
  readonly path: string;
  /** The acting user, where the response depends on it. */
  readonly actor?: string;
  readonly body?: Schema | readonly (Schema | string)[];
  /** Undefined: an empty body. A string: text that is not JSON. */
  readonly response?: unknown;
}

export interface EndpointDocs {
  readonly summary: string;
  readonly about?: string;
  /** Marks the endpoint as deprecated. A sentence that names its replacement. */
  readonly deprecated?: string;
  /** Schema of the response, with references to the components of the document; absent: the body is empty. */
  readonly response?: Schema | undefined;
  readonly errors: readonly ErrorCase[];
  readonly example: Example;
}

export type DocsOf = (endpoint: Endpoint) => EndpointDocs;

/** As the files have it: a name stands for a list of errors, or for a response, of shared.json. */
type StoredDocs = Omit<EndpointDocs, "errors" | "response"> & {
  readonly errors: readonly (ErrorCase | string)[];
  readonly response?: Schema | string;
};

interface Shared {
  readonly errors: Readonly<Record<string, readonly ErrorCase[]>>;
  readonly responses: Readonly<Record<string, Schema>>;
  /** Components of the OpenAPI document, by name. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

const readJson = <T>(file: string): T =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));

/** Schemas of responses that have a name in the OpenAPI document. */
export const responseSchemas = () => readJson<Shared>("./shared.json").schemas;

function sharedValue<T>(values: Readonly<Record<string, T>>, name: string): T {
  const value = ownValue(values, name);
  assert(value !== undefined, `shared.json has "${name}"`);
  return value;
}

/** Reads the documentation of all endpoints. The returned function throws for an endpoint that has none. */
export function readEndpointDocs(): DocsOf {
  const { errors: lists, responses } = readJson<Shared>("./shared.json");
  const all = new Map(
    readdirSync(new URL("./endpoints/", import.meta.url)).flatMap((file) =>
      Object.entries(readJson<Record<string, StoredDocs>>(`./endpoints/${file}`)),
    ),
  );
  return (endpoint) => {
    const id = endpointId(endpoint);
    const docs = all.get(id);
    assert(docs !== undefined, `${id} is documented`);
    const { errors, response, example } = docs;
    const { exampleResponse = example.response } = endpoint;
    return {
      ...docs,
      errors: errors.flatMap((one) => (typeof one === "string" ? sharedValue(lists, one) : one)),
      response: typeof response === "string" ? sharedValue(responses, response) : response,
      example: { ...example, response: exampleResponse },
    };
  };
}
