/** Reads the definitions of the structured properties of an entity type. */
import { queryOptions } from "@tanstack/react-query";
import { readAspects } from "../../../api/entities.ts";
import { search } from "../../../api/search.ts";
import { type Definition, definitionOf } from "./definition.ts";

const definitionAspects = ["propertyDefinition", "structuredPropertySettings", "status"] as const;
const definitionsMax = 500;

/** The structured properties of an entity type, by name. */
export const definitionsQuery = (type: string) =>
  queryOptions({
    queryKey: ["search", "definitions", type],
    queryFn: async (): Promise<readonly Definition[]> => {
      const entityType = `urn:li:entityType:datahub.${type}`;
      const { hits } = await search({
        query: "*",
        types: ["structuredProperty"],
        filters: new Map([["entityTypes", [entityType]]]),
        count: definitionsMax,
      });
      return readDefinitions(hits.map(({ urn }) => urn));
    },
    staleTime: 60_000,
  });

async function readDefinitions(urns: readonly string[]): Promise<readonly Definition[]> {
  const found = await readAspects(urns, definitionAspects);
  return [...found]
    .map(([urn, aspects]) => definitionOf(urn, aspects))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}
