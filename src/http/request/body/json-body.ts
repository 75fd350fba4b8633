/**
 * JSON request bodies in UTF-8, also with other content types (`curl -d` sends that of a form, some
 * clients send none). An empty body is the empty object.
 */
import { isUtf8 } from "node:buffer";
import { CatalogError } from "../../../core/errors.ts";
import { type JsonLimits, jsonLimits, readJson } from "../../../core/json-text.ts";

/** Content types that are parsed as JSON, as one pattern for fastify. */
export const jsonContentTypes =
  /^(?:application\/json|application\/[\w.+-]+\+json|text\/json|text\/plain|application\/x-www-form-urlencoded)\s*(?:;|$)/i;

/** The endpoint's body; `any`: it ignores its body. */
export type BodyForm = "object" | "array" | "any";

/** Throws `malformed`, or `too_large` for too many members, with the error and its position. */
export function parseJsonBody(
  body: Buffer,
  form: BodyForm = "object",
  limits: JsonLimits = jsonLimits,
): unknown {
  return parseJsonText(jsonTextOf(body), form, limits);
}

/** The text without a byte order mark. Throws `malformed` if it is not UTF-8. */
export function jsonTextOf(body: Buffer): string {
  if (!isUtf8(body)) throw malformed("The body is not UTF-8");
  return body.toString("utf8", startsWithMark(body) ? 3 : 0);
}

/** The same as parseJsonBody, for the text of a body. */
export function parseJsonText(text: string, form: BodyForm, limits: JsonLimits): unknown {
  if (text === "") return form === "array" ? [] : {};
  const read = readJson(text, limits);
  if (!read.ok && read.code === "too_large") throw tooManyMembers(read.fault);
  if (!read.ok) throw malformed(read.fault);
  const { value } = read;
  if (form === "any" || (form === "array" && Array.isArray(value))) return value;
  if (form === "array") throw malformed("The body must be a list: [<member>, …]");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed('The body must be an object: {"<parameter>": <value>}');
  }
  return value;
}

export function unreadableContentType(contentType: string | undefined): CatalogError {
  return new CatalogError(
    "malformed",
    `content type "${(contentType ?? "").slice(0, 120)}" is not read`,
    { hint: "Send JSON with Content-Type: application/json" },
  );
}

/** The byte order mark that some editors and shells write. */
const startsWithMark = (body: Buffer): boolean =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;

const tooManyMembers = (fault: string): CatalogError =>
  new CatalogError("too_large", `the request body is too large: ${fault}`, {
    hint: "Send it in several requests, or raise --body-members-max",
  });

const malformed = (hint: string): CatalogError =>
  new CatalogError("malformed", "Cannot parse request entity", { hint });
