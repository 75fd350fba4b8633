/** The values of entity fields, from the aspects in the request's loader. */
import { NO_RUN_ID } from "../../core/change.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { descriptionAspects, propertiesAspects } from "./aspects-by-type.ts";
import { type EntitySource, entityOf, namedAs, namedBy } from "./entity-source.ts";

const list = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(jsonObject) : [];

export const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** The fields of the key aspect, from the urn; empty when the entity does not exist. */
export const keyOf = ({ found }: LoadedEntity): JsonObject => {
  const [key] = found?.exists === true ? found.aspects : [];
  const value: unknown = key === undefined ? {} : JSON.parse(key.value);
  return jsonObject(value) ? value : {};
};

/** Time of the last write by a run with an id. */
export function lastIngestedOf({ found }: LoadedEntity): number | null {
  const times = (found?.aspects ?? [])
    .filter(({ system }) => [system.runId, system.lastRunId].some(isRun))
    .map(({ system }) => system.lastObserved);
  return times.length === 0 ? null : Math.max(...times);
}

const isRun = (runId: string | undefined) => (runId ?? NO_RUN_ID) !== NO_RUN_ID;

/** Last part of the urn: the name of an entity without one. */
export const lastPart = (urn: string): string => {
  const id = urn.split(":").slice(3).join(":");
  return id.startsWith("(") ? (id.slice(1, -1).split(",").at(-1) ?? id) : id;
};

export function propertiesOf(loaded: LoadedEntity): JsonObject | null {
  const entityType = entityTypeOf(loaded.urn);
  const properties = loaded.aspect(ownValue(propertiesAspects, entityType) ?? "");
  if (properties === undefined) return null;
  return {
    ...properties,
    name: properties.name ?? properties.title ?? properties.displayName ?? nameOf(loaded),
    title: text(properties.title),
    description: text(properties.description ?? properties.definition),
    customProperties: entriesOf(properties.customProperties) ?? [],
  };
}

/** A map as a list of entries, because GraphQL has no maps. */
export const entriesOf = (map: unknown) =>
  jsonObject(map)
    ? Object.entries(map).map(([key, value]) => ({ key, value: String(value) }))
    : null;

/** Fields of corpUserInfo. */
export const userInfoOf = (info: JsonObject | undefined) =>
  info && {
    ...info,
    manager: namedAs("CorpUser", info.managerUrn),
    customProperties: entriesOf(info.customProperties) ?? [],
  };

export function nameOf(loaded: LoadedEntity): string {
  const entityType = entityTypeOf(loaded.urn);
  const properties = loaded.aspect(ownValue(propertiesAspects, entityType) ?? "") ?? {};
  const key = keyOf(loaded);
  // A platform's name is its key; the name in its properties is for display.
  const names =
    entityType === "dataPlatform" || entityType === "corpGroup"
      ? [key.platformName, key.name]
      : [properties.name, properties.title, key.name];
  return names.map(text).find((name) => name !== null && name !== "") ?? lastPart(loaded.urn);
}

export function platformOf(loaded: LoadedEntity, { namespace }: Viewer): EntitySource | null {
  const key = keyOf(loaded);
  const instance = loaded.aspect("dataPlatformInstance")?.platform;
  const platform = namedAs("DataPlatform", key.platform ?? instance);
  const tool = text(key.dashboardTool ?? key.orchestrator);
  return platform ?? (tool === null ? null : entityOf(`urn:${namespace}:dataPlatform:${tool}`));
}

export const tagsOf = (value: unknown, urn: string) =>
  jsonObject(value)
    ? {
        tags: list(value.tags).flatMap(({ tag, context }) => {
          const named = namedAs("Tag", tag);
          return named === null ? [] : [{ tag: named, context, associatedUrn: urn }];
        }),
      }
    : null;

export const termsOf = (value: unknown, urn: string) =>
  jsonObject(value)
    ? {
        terms: list(value.terms).flatMap((one) => {
          const term = namedAs("GlossaryTerm", one.urn);
          return term === null ? [] : [{ term, associatedUrn: urn }];
        }),
      }
    : null;

export function ownershipOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("ownership");
  if (value === undefined) return null;
  return {
    lastModified: value.lastModified,
    owners: list(value.owners).flatMap(({ owner, type, typeUrn }) => {
      const named = namedAs("CorpUser", owner) ?? namedAs("CorpGroup", owner);
      const ownershipType = typeof typeUrn === "string" ? { urn: typeUrn } : null;
      return named === null ? [] : [{ owner: named, type, ownershipType, associatedUrn: urn }];
    }),
  };
}

export function domainOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("domains");
  const [association] = list(value?.domainAssociations);
  const [first] = (value?.domains ?? []) as readonly unknown[];
  const domain = namedAs("Domain", association?.domain ?? first);
  return domain === null ? null : { domain, associatedUrn: urn };
}

export function deprecationOf({ aspect }: LoadedEntity) {
  const value = aspect("deprecation");
  return value === undefined ? null : { ...value, replacement: namedBy(value.replacement) };
}

export function editableOf({ urn, aspect }: LoadedEntity) {
  const [name = "", field = ""] = ownValue(descriptionAspects, entityTypeOf(urn)) ?? [];
  const value = name === ownValue(propertiesAspects, entityTypeOf(urn)) ? undefined : aspect(name);
  return value === undefined ? null : { ...value, description: text(value[field]) };
}

export function linksOf({ aspect }: LoadedEntity) {
  const value = aspect("institutionalMemory");
  if (value === undefined) return null;
  const elements = list(value.elements).map((one) => ({ ...one, label: one.description }));
  return { elements };
}

/** `createdAt`: time at which this version was written, in epoch milliseconds. */
export function schemaOf(urn: string, value: JsonObject | undefined, createdAt?: number) {
  if (value === undefined) return null;
  const { schemaName: name, version, primaryKeys } = value;
  return {
    name,
    version,
    primaryKeys,
    createdAt,
    fields: list(value.fields).map((one) => labelled(one, urn)),
  };
}

export function editableSchemaOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("editableSchemaMetadata");
  if (value === undefined) return null;
  const fields = list(value.editableSchemaFieldInfo).map((one) => labelled(one, urn));
  return { editableSchemaFieldInfo: fields };
}

const labelled = (field: JsonObject, urn: string) => {
  const tags = tagsOf(field.globalTags, urn);
  return { ...field, tags, globalTags: tags, glossaryTerms: termsOf(field.glossaryTerms, urn) };
};
