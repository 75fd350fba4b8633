/** Steps through a JSON Schema of the service, and finds the values of a text that do not fit it. */
import { jsonLanguage } from "@codemirror/lang-json";
import type { Diagnostic } from "@codemirror/lint";
import { at, isObject, type JsonObject, listAt, numberAt, textAt, textsAt } from "../api/json.ts";
import { childrenOf, isValue, type SyntaxNode } from "./json-path.ts";

/** A document with its definitions, or a schema in it. */
export type JsonSchema = JsonObject;

/** More marks than a reader can use make the editor slow. */
const marksMax = 100;

/** The ways through a schema; a map has members of any name. */
export interface SchemaSteps {
  readonly root: JsonSchema;
  /** The schema of a member of an object: a named field, or a value of a map. */
  member(schema: JsonSchema | undefined, name: string): JsonSchema | undefined;
  item(schema: JsonSchema | undefined): JsonSchema | undefined;
  /** The fields of an object; none of a map. */
  members(schema: JsonSchema | undefined): readonly (readonly [string, JsonSchema])[];
}

export function schemaSteps(document: JsonSchema): SchemaSteps {
  const resolved = (schema: unknown): JsonSchema | undefined => resolve(document, schema);
  return {
    root: resolved(document) ?? {},
    member: (schema, name) =>
      resolved(at(schema, "properties", name) ?? at(schema, "additionalProperties")),
    item: (schema) => resolved(at(schema, "items")),
    members: (schema) =>
      Object.entries(at(schema, "properties") ?? {}).map(
        ([name, member]) => [name, resolved(member) ?? {}] as const,
      ),
  };
}

/** A schema without a reference; `nullable` if null fits, too. */
function resolve(document: JsonSchema, schema: unknown): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  const [alternative, none] = listAt(schema, "anyOf");
  if (none !== undefined) return { ...resolve(document, alternative), nullable: true };
  const pointer = textAt(schema, "$ref");
  if (pointer === undefined) return schema;
  const { $ref, ...own } = schema;
  const target =
    pointer === "#" ? document : at(document, "$defs", pointer.slice("#/$defs/".length));
  return isObject(target) ? { ...target, ...own } : own;
}

/** Marks each value that does not fit, at its line. Expects a text without syntax errors. */
export function schemaErrors(text: string, { root, ...steps }: SchemaSteps): readonly Diagnostic[] {
  const marks: Diagnostic[] = [];
  const mark = ({ from, to }: SyntaxNode, message: string, severity: Diagnostic["severity"]) => {
    const line = text.indexOf("\n", from);
    marks.push({ from, to: line < 0 ? to : Math.min(to, line), severity, message });
  };
  const check = (node: SyntaxNode, schema: JsonSchema): void => {
    if (marks.length >= marksMax) return;
    if (!fits(node, schema, text)) {
      mark(node, expected(schema), "error");
      return;
    }
    if (node.name === "Array") {
      const item = steps.item(schema);
      for (const one of childrenOf(node)) if (item !== undefined && isValue(one)) check(one, item);
    }
    if (node.name !== "Object") return;
    const properties = propertiesOf(node, text);
    const absent = textsAt(listAt(schema, "required")).filter(
      (name) => !properties.some((property) => property.name === name),
    );
    if (absent.length > 0)
      mark(node, `the required field ${absent.join(", ")} is missing`, "error");
    for (const { name, label, value } of properties) {
      const member = steps.member(schema, name);
      if (member !== undefined) {
        if (value !== undefined) check(value, member);
      } else if (at(schema, "additionalProperties") === false) {
        mark(label, `unknown field "${name}": a write drops it`, "warning");
      }
    }
  };
  const value = jsonLanguage.parser.parse(text).topNode.firstChild;
  if (value !== null) check(value, root);
  return marks;
}

const expected = (schema: JsonSchema): string =>
  `expected ${textAt(schema, "description") ?? "an object"}`;

/** True if the kind of a value is right, and its text. */
function fits(node: SyntaxNode, schema: JsonSchema, text: string): boolean {
  if (node.name === "Null" && at(schema, "nullable") === true) return true;
  const symbols = listAt(schema, "enum");
  const value = scalarOf(node, text);
  if (symbols.length > 0) return symbols.includes(value);
  switch (textAt(schema, "type")) {
    case "object":
      return node.name === "Object" && countFits(node, schema);
    case "array":
      return node.name === "Array";
    case "string":
      return typeof value === "string" && patternFits(value, textAt(schema, "pattern"));
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isInteger(value) && inRange(value as number, schema);
    case "number":
      return typeof value === "number" && inRange(value, schema);
    default:
      return true;
  }
}

const patternFits = (value: string, pattern: string | undefined): boolean =>
  pattern === undefined || new RegExp(pattern, "u").test(value);

const inRange = (value: number, schema: JsonSchema): boolean =>
  value >= (numberAt(schema, "minimum") ?? value) &&
  value <= (numberAt(schema, "maximum") ?? value);

function countFits(node: SyntaxNode, schema: JsonSchema): boolean {
  const count = node.getChildren("Property").length;
  return (
    count >= (numberAt(schema, "minProperties") ?? 0) &&
    count <= (numberAt(schema, "maxProperties") ?? count)
  );
}

interface Property {
  readonly name: string;
  readonly label: SyntaxNode;
  /** Absent while it is being typed. */
  readonly value: SyntaxNode | undefined;
}

/** The members of an object in a text. */
export function propertiesOf(node: SyntaxNode, text: string): readonly Property[] {
  return node.getChildren("Property").flatMap((property) => {
    const label = property.firstChild;
    const name = label && scalarOf(label, text);
    if (label === null || typeof name !== "string") return [];
    const value = childrenOf(property).find(isValue);
    return [{ name, label, value }];
  });
}

/** The value of a text, number, boolean or null; undefined for anything else. */
function scalarOf(node: SyntaxNode, text: string): unknown {
  if (node.name === "Object" || node.name === "Array") return undefined;
  try {
    return JSON.parse(text.slice(node.from, node.to));
  } catch {
    return undefined;
  }
}
