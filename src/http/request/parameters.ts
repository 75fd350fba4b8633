/** Query parameters and headers of a request, as its endpoint declares them. Others are ignored. */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../../core/errors.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import { formatNumber } from "../../lib/format.ts";
import type { Endpoint, Parameter } from "../schemas/endpoint.ts";
import type { Query } from "./query.ts";

const INTEGER = /^[+-]?\d{1,19}$/;
const PLAIN_NAME = /^\w+$/;
const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

/** Throws `malformed` for one that is missing or mistyped. */
export function readParameters(
  query: Query,
  declared: Endpoint["parameters"],
  headers: IncomingHttpHeaders,
): Readonly<Record<string, unknown>> {
  if (declared === undefined) return NONE;
  let values: Record<string, unknown> | undefined;
  for (const parameter of declared) {
    if (parameter.in === "path") continue;
    const value =
      parameter.in === "query"
        ? read(query, parameter)
        : headers[parameter.name.toLowerCase()]?.toString();
    if (value !== undefined) {
      values ??= {};
      values[parameter.name] = value;
    } else if (parameter.required === true) {
      throw new CatalogError("malformed", `Parameter '${parameter.name}' is required`, {
        hint: parameter.values && `Send one of ${parameter.values.join(", ")}`,
      });
    }
  }
  return values ?? NONE;
}

/**
 * Throws `malformed` for a query parameter that is not declared: a misspelt one could turn the deletion
 * of an aspect into that of an entity.
 */
export function rejectUnknown(query: Query, declared: Endpoint["parameters"] = []): void {
  const known = declared.filter((one) => one.in === "query").map(({ name }) => name);
  const unknown = query.names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const hint = known.length === 0 ? "Send no query parameters" : `It takes ${known.join(", ")}`;
  throw new CatalogError("malformed", `unknown query parameter "${unknown.slice(0, 60)}"`, {
    hint: nearest(unknown, known) ?? hint,
  });
}

/** An empty required parameter is missing; an empty list is a valid list. */
function read(query: Query, { name, type, required }: Parameter): unknown {
  if (type === "strings") {
    const list = query.list(name);
    return required === true && list?.join("") === "" && list.length > 0 ? undefined : list;
  }
  const text = query.one(name);
  if (text === undefined || type === "string") {
    return text === "" && required === true ? undefined : text;
  }
  if (type === "long") {
    if (!INTEGER.test(text)) throw mistyped(name, text, "Long");
    return Number(text);
  }
  // Python writes True.
  const flag = text.toLowerCase();
  if (flag !== "true" && flag !== "false") throw mistyped(name, text, "Boolean");
  return flag === "true";
}

/** Throws `malformed` for a number that is less. */
export function atLeast(
  numbers: Readonly<Record<string, number | undefined>>,
  least: number,
): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || value >= least) continue;
    throw new CatalogError("malformed", `${name} is ${formatNumber(value)}`, {
      hint: `Send ${least} or more`,
    });
  }
}

/** Names of the model, which contain no commas or blanks: accepts `a,b` and `List(a, b)`. */
export const namesIn = (names: readonly string[]): readonly string[] =>
  names.every((name) => PLAIN_NAME.test(name))
    ? names
    : names
        .flatMap((text) => text.split(","))
        .map((name) => name.trim())
        .filter((name) => name !== "");

const mistyped = (name: string, text: string, type: string): CatalogError =>
  new CatalogError(
    "malformed",
    `Argument parameter '${name}' value '${text.slice(0, 120)}' must be of type 'java.lang.${type}'`,
  );
