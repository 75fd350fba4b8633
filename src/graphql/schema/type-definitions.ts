/** The type definitions: the files in sdl/, and the enum EntityType, whose members the model gives. */
import { readdirSync, readFileSync } from "node:fs";
import { type DocumentNode, parse } from "graphql";

const directory = new URL("./sdl/", import.meta.url);

/** `entityTypes`: the members of the enum EntityType. */
export function typeDefinitions(entityTypes: readonly string[]): DocumentNode {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".graphql"))
    .sort();
  const texts = files.map((name) => readFileSync(new URL(name, directory), "utf8"));
  return parse(`${texts.join("\n")}\nenum EntityType {\n  ${entityTypes.join("\n  ")}\n}`);
}
