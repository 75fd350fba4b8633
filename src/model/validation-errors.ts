/**
 * Messages for validation errors. They begin like DataHub's, which its clients know, and continue with
 * the expected value:
 *
 *   "EMPEROR" is not an enum symbol: expected one of DEVELOPER, …
 */
import type { ErrorObject } from "ajv";
import { formatNumber } from "../lib/format.ts";
import { shortened } from "../lib/shortened.ts";
import { type Expectation, type JsonSchema, validationErrorsMax } from "./json-schema.ts";
import type { ValidationError, WrongUrn } from "./model.ts";

/** A path holds keys of maps, which are as long as the sender likes. */
const pathLengthMax = 500;

export const tooDeep: ValidationError = {
  path: "",
  message: "the value is nested too deeply: expected fewer levels",
};

/** The first validationErrorsMax. Takes the found values out of the errors, which ajv keeps for long. */
export function validationErrorsOf(errors: readonly ErrorObject[]): readonly ValidationError[] {
  const validationErrors = errors
    .slice(0, validationErrorsMax)
    .map((error) => ({ path: pathOf(error), message: finding(error, error.parentSchema ?? {}) }));
  for (const error of errors) {
    error.data = undefined;
    error.instancePath = "";
  }
  return validationErrors;
}

/** The validation errors of urns, in DataHub's words: the first validationErrorsMax. */
export const validationErrorsOfUrns = (wrong: readonly WrongUrn[]): readonly ValidationError[] =>
  wrong.slice(0, validationErrorsMax).map(({ urn, path, fault, expected }) => ({
    path: shortened(path, pathLengthMax),
    message: `"Provided urn ${shortened(urn)}" is invalid: ${fault}: expected ${expected}`,
  }));

function pathOf({ keyword, instancePath, params }: ErrorObject): string {
  const path = shortened(instancePath, pathLengthMax);
  return keyword === "required" ? `${path}/${params.missingProperty}` : path;
}

function finding({ keyword, params, data }: ErrorObject, schema: JsonSchema): string {
  const found = shown(data);
  switch (keyword) {
    case "required": {
      const fields = schema.properties as Readonly<Record<string, JsonSchema>> | undefined;
      const field = fields?.[params.missingProperty]?.expects;
      return `field is required but not found and has no default value${expected(field)}`;
    }
    case "enum":
      return `${found} is not an enum symbol${expected(schema.expects)}`;
    case "oneMember":
      return `${found} is not a member type of union${expected(schema.expects)}`;
    case "minimum":
    case "maximum":
      return `${found} is out of range for ${schema.expects?.type}${expected(schema.expects)}`;
    case "urn":
      if (typeof data === "string" && !data.isWellFormed()) {
        return `${JSON.stringify(shortened(data))} contains an unpaired surrogate, which is invalid Unicode${expected(schema.expects)}`;
      }
      return `${found} cannot be coerced to Urn${expected(schema.expects)}`;
    default:
      return `${found} cannot be coerced to ${schema.expects?.type}${expected(schema.expects)}`;
  }
}

const expected = (expectation: Expectation | undefined): string =>
  expectation === undefined ? "" : `: expected ${expectation.text}`;

function shown(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value);
    if (keys.length === 0) return "{}";
    return `{${shortened(keys.slice(0, 3).join(", "))}${keys.length > 3 ? ", …" : ""}}`;
  }
  if (typeof value === "string") return `"${shortened(value)}"`;
  return typeof value === "number" ? formatNumber(value) : String(value);
}
