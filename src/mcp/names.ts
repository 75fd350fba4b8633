/** Display names and descriptions of entities, for lists. */
import type { Catalog, FoundEntity } from "../catalog/catalog.ts";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import { ownValue } from "../lib/own-value.ts";

/** An entity in a list. */
interface EntityLine {
  readonly urn: string;
  readonly type: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

const nameFields = ["displayName", "name", "title", "fullName"];
/** Texts that people edited precede texts that ingestion wrote. */
const descriptionFields = ["description", "definition", "aboutMe"];
const isTextAspect = (name: string): boolean =>
  /(?:Properties|Info|Key|Content)$/.test(name) || name === "dataPlatformInstance";
const descriptionCharactersMax = 200;

/** In the order of the urns, with one request to the catalog. */
export async function entityLines(
  urns: readonly string[],
  catalog: Catalog,
): Promise<readonly EntityLine[]> {
  const entities = await catalog.findEntities(urns, undefined);
  return entities.map(lineOf);
}

function lineOf({ urn, entityType, aspects }: FoundEntity): EntityLine {
  const texts = aspects
    .filter(({ name }) => isTextAspect(name))
    .map(({ name, value }) => ({ name, value: JSON.parse(value) as unknown }))
    .filter((aspect): aspect is { name: string; value: JsonObject } => jsonObject(aspect.value));
  // The key comes first in `aspects`, and its name is the least readable one.
  const byPriority = texts.toSorted((a, b) => rankOf(a.name) - rankOf(b.name));
  const description = firstText(byPriority, descriptionFields);
  return {
    urn,
    type: entityType,
    name: firstText(byPriority, nameFields),
    description: description?.slice(0, descriptionCharactersMax),
  };
}

const rankOf = (aspect: string): number =>
  aspect.startsWith("editable") ? 0 : aspect.endsWith("Key") ? 2 : 1;

function firstText(
  aspects: readonly { readonly value: JsonObject }[],
  fields: readonly string[],
): string | undefined {
  for (const { value } of aspects) {
    for (const field of fields) {
      const text = ownValue(value, field);
      if (typeof text === "string" && text !== "") return text;
    }
  }
  return undefined;
}
