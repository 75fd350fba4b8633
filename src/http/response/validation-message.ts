/**
 * Validation errors of bodies: DataHub's message, which clients parse, and a plain hint. Only the first
 * error is reported; others often follow from it.
 */
import { CatalogError } from "../../core/errors.ts";
import { formatNumber } from "../../lib/format.ts";

/** An error of ajv with the invalid value (`verbose`). */
export interface Finding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
}

const shownCharactersMax = 60;

export function validationErrorOf(action: string, finding: Finding): CatalogError {
  const { keyword, instancePath: path, params } = finding;
  if (keyword === "required" && path === "") {
    return new CatalogError(
      "malformed",
      `Parameter '${String(params.missingProperty)}' is required`,
    );
  }
  const [where, what, hint] = explain(finding, path);
  return new CatalogError(
    keyword === "maxItems" ? "too_large" : "malformed",
    `Parameters of method '${action}' failed validation with error 'ERROR :: ${where} :: ${what}'`,
    { hint },
  );
}

function explain(
  { keyword, params, data }: Finding,
  path: string,
): readonly [where: string, what: string, hint?: string] {
  switch (keyword) {
    case "required":
      return [
        `${path}/${String(params.missingProperty)}`,
        "field is required but not found and has no default value",
        "Add it",
      ];
    case "enum":
      return [
        path,
        `${shown(data)} is not an enum symbol`,
        `Use one of ${list(params.allowedValues)}`,
      ];
    case "type":
      return [path, ...mistyped(data, params.type)];
    case "maxItems":
      return [
        path,
        `${Array.isArray(data) ? data.length : "too many"} members; at most ${String(params.limit)} are allowed`,
        "Send them in several requests",
      ];
    case "minimum":
      return [
        ...([path, `${shown(data)} is below ${String(params.limit)}`] as const),
        `Send ${String(params.limit)} or more`,
      ];
    case "maximum":
      return [
        ...([path, `${shown(data)} is above ${String(params.limit)}`] as const),
        `Send ${String(params.limit)} or less`,
      ];
    case "minProperties":
    case "maxProperties":
      return [
        path,
        `a union value has one member, not ${Object.keys(Object(data)).length}`,
        "Its one member is named by the record it holds",
      ];
    default:
      return [path, `${shown(data)} does not fit (${keyword})`];
  }
}

/** DataHub's name of each type, and a plain description. */
const scalars: Readonly<Record<string, readonly [name: string, plain: string]>> = {
  string: ["String", "text, in quotes"],
  integer: ["Long", "a whole number, without quotes"],
  number: ["Double", "a number, without quotes"],
  boolean: ["Boolean", "true or false, without quotes"],
};

function mistyped(data: unknown, expected: unknown): readonly [what: string, hint: string] {
  const types: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  const found = `instead of ${shown(data)}`;
  if (types.includes("object")) {
    return ["record type is not backed by a DataMap", `Send an object there, {…}, ${found}`];
  }
  if (types.includes("array")) {
    return ["array type is not backed by a DataList", `Send a list there, […], ${found}`];
  }
  const [name, plain] = scalars[String(types[0])] ?? [String(types[0]), String(types[0])];
  return [`${shown(data)} cannot be coerced to ${name}`, `Send ${plain}`];
}

/** A value as JSON, shortened. */
function shown(data: unknown): string {
  if (typeof data === "string") return JSON.stringify(cut(data));
  if (typeof data === "number") return formatNumber(data);
  return cut(JSON.stringify(data) ?? "nothing");
}

const cut = (text: string): string =>
  text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;

const list = (values: unknown): string =>
  Array.isArray(values) ? [...new Set(values.map(String))].join(", ") : "";
