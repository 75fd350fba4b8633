/**
 * Arguments without an effect are listed with the reason. An argument or a member of an input counts as
 * read if its name occurs in the code of a module that names the field, or of one that it imports.
 */
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from "graphql";
import { expect, test } from "vitest";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypeRows, entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { copiedInputs, readByCatalog, withoutEffect } from "./seen/arguments.ts";

interface Module {
  readonly path: string;
  readonly words: ReadonlySet<string>;
  readonly imports: readonly string[];
}

const source = fileURLToPath(new URL("../../src/", import.meta.url));

/** The names in the code: identifiers and strings of one word, without types and comments. */
function wordsOf(text: string): ReadonlySet<string> {
  const code = stripTypeScriptTypes(text)
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, (literal) => (/^"\w+"$/.test(literal) ? literal : ""));
  return new Set(code.match(/[A-Za-z_]\w*/g));
}

function modulesIn(folder: string): readonly Module[] {
  const names = readdirSync(join(source, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !name.startsWith("schema/"))
    .map((name) => {
      const path = join(source, folder, name);
      const text = readFileSync(path, "utf8");
      const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, to = ""]) =>
        resolve(dirname(path), to),
      );
      return { path, words: wordsOf(text), imports };
    });
}

const modules = modulesIn("graphql");
const catalogWords = modulesIn("catalog/search").map(({ words }) => words);

/** Fields that entity-queries.ts resolves; the table of the entity types names them. */
const queries = new Set(Object.values(entityTypeRows).map(({ query }) => query));

/** The words of the modules that name the field, and of those that they import. */
function wordsFor(field: string): readonly ReadonlySet<string>[] {
  const own = modules.filter(
    ({ path, words }) =>
      words.has(field) || (queries.has(field) && path.endsWith("/entity-queries.ts")),
  );
  const paths = new Set(own.flatMap(({ path, imports }) => [path, ...imports]));
  return modules.filter(({ path }) => paths.has(path)).map(({ words }) => words);
}

function inputsIn(type: GraphQLInputType, found: Set<GraphQLInputObjectType>): void {
  const named = getNamedType(type);
  if (!isInputObjectType(named) || found.has(named)) return;
  found.add(named);
  for (const { type: inner } of Object.values(named.getFields())) inputsIn(inner, found);
}

/** Arguments as `Type.field(argument)`, members as `Input.member`, and inputs; those not read. */
function argumentsOf() {
  const names = new Set<string>();
  const unread = new Set<string>();
  const note = (name: string, isRead: boolean) => {
    names.add(name);
    if (!isRead) unread.add(name);
  };
  const schema = createSchema(entityTypesOf(loadModel().entities.keys()).members);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.args.length === 0) continue;
      const words = wordsFor(field.name);
      const isRead = (name: string, all = words) => all.some((own) => own.has(name));
      const inputs = new Set<GraphQLInputObjectType>();
      for (const { name, type: given } of field.args) {
        note(`${type.name}.${field.name}(${name})`, isRead(name));
        inputsIn(given, inputs);
      }
      for (const input of inputs) {
        names.add(input.name);
        const all = readByCatalog.includes(input.name) ? [...words, ...catalogWords] : words;
        for (const name of Object.keys(input.getFields())) {
          note(`${input.name}.${name}`, isRead(name, all));
        }
      }
    }
  }
  return { names, unread };
}

const { names, unread } = argumentsOf();

test("every argument is read, or listed with the reason why it has no effect", () => {
  const known = new Set([...copiedInputs, ...withoutEffect.map(([name]) => name)]);
  const isKnown = (name: string) => known.has(name) || known.has(name.split(".")[0] ?? "");
  expect([...unread].filter((name) => !isKnown(name))).toEqual([]);
});

test("the lists name arguments and inputs of the schema", () => {
  const stale = [...copiedInputs, ...withoutEffect.map(([name]) => name)].filter(
    (name) => !names.has(name),
  );
  expect(stale).toEqual([]);
});
