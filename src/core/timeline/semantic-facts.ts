/**
 * The facts that an aspect states: a tag, an owner, the type of a field. The timeline shows the
 * difference of two values as the facts that were added, removed or modified. Aspects without such
 * facts yield none.
 */
import { type JsonObject, objectOf, objectsIn, stringsIn } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";

/** DataHub's names. */
export const changeCategories = [
  "DOCUMENTATION",
  "GLOSSARY_TERM",
  "OWNERSHIP",
  "TECHNICAL_SCHEMA",
  "TAG",
  "DOMAIN",
  "DEPRECATION",
  "LIFECYCLE",
  "RUN",
  "BUSINESS_ATTRIBUTE",
  "STRUCTURED_PROPERTY",
  "APPLICATION",
  "PARENT",
  "RELATED_ENTITIES",
  "ASSET_MEMBERSHIP",
  "VERSIONING",
  "INCIDENT",
  "FORM",
] as const;

export type ChangeCategory = (typeof changeCategories)[number];

export interface Fact {
  readonly category: ChangeCategory;
  /** Unique in its category. */
  readonly id: string;
  /** Urn of the entity or schema field that the fact is about. */
  readonly about: string;
  /** The thing that was added or removed, as its urn if it has one. */
  readonly modifier?: string | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** The fact as text: `tag urn:li:tag:pii`. */
  readonly words: string;
  /** The part that can be modified while the fact stays the same, as text. */
  readonly value: string;
  /** The native type of a field. */
  readonly type?: string | undefined;
  /** Removing or modifying it breaks consumers of the entity. */
  readonly breaking?: boolean | undefined;
}

type FactReader = (value: JsonObject, urn: string) => readonly Fact[];

/** Aspects that describe their entity, with the member that does. */
const DESCRIPTION_MEMBERS = ["description", "definition", "about"];
const DESCRIBES = /(?:Properties|Info)$/;

export function factsOf(aspect: string, value: JsonObject, urn: string): readonly Fact[] {
  const special = ownValue(readers, aspect)?.(value, urn) ?? [];
  return DESCRIBES.test(aspect) ? [...special, ...description(value, urn)] : special;
}

/** By aspect. */
const readers: Readonly<Record<string, FactReader>> = {
  globalTags: (value, urn) => tags(value, urn),
  glossaryTerms: (value, urn) => terms(value, urn),
  ownership: (value, urn) =>
    objectsIn(value.owners).map((owner) => {
      const type = text(owner.typeUrn) || text(owner.type);
      const ownerUrn = text(owner.owner);
      return {
        category: "OWNERSHIP",
        id: `${ownerUrn} ${type}`,
        about: urn,
        modifier: ownerUrn,
        parameters: { ownerUrn, ownerType: text(owner.type), ownerTypeUrn: owner.typeUrn },
        words: `owner ${ownerUrn} (${type})`,
        value: "",
      };
    }),
  domains: (value, urn) => named("DOMAIN", "domain", "domainUrn", stringsIn(value.domains), urn),
  applications: (value, urn) =>
    named("APPLICATION", "application", "applicationUrn", stringsIn(value.applications), urn),
  structuredProperties: (value, urn) =>
    objectsIn(value.properties).map((property) => {
      const propertyUrn = text(property.propertyUrn);
      const values = JSON.stringify(property.values ?? []);
      return {
        category: "STRUCTURED_PROPERTY",
        id: propertyUrn,
        about: urn,
        modifier: propertyUrn,
        parameters: { propertyUrn, propertyValues: values },
        words: `structured property ${propertyUrn}`,
        value: values,
      };
    }),
  institutionalMemory: (value, urn) =>
    objectsIn(value.elements).map((link) => ({
      category: "DOCUMENTATION",
      id: text(link.url),
      about: urn,
      modifier: text(link.url),
      words: `link ${text(link.url)}`,
      value: text(link.description),
    })),
  deprecation: (value, urn) => [
    {
      category: "DEPRECATION",
      id: "deprecated",
      about: urn,
      words: "deprecation",
      parameters: { status: value.deprecated === true ? "DEPRECATED" : "ACTIVE" },
      value: value.deprecated === true ? `deprecated: ${text(value.note)}` : "active",
    },
  ],
  schemaMetadata: (value, urn) => [
    ...objectsIn(value.fields).flatMap((field) => [
      schemaField(field, urn),
      ...ofField(field, urn, "globalTags", "glossaryTerms"),
    ]),
    ...primaryKey(stringsIn(value.primaryKeys), urn),
  ],
  editableSchemaMetadata: (value, urn) =>
    objectsIn(value.editableSchemaFieldInfo).flatMap((field) =>
      ofField(field, urn, "globalTags", "glossaryTerms"),
    ),
  documentation: (value, urn) =>
    objectsIn(value.documentations).map((one) => {
      const source = text(objectOf(one.attribution).source);
      const documentation = text(one.documentation);
      return {
        category: "DOCUMENTATION",
        id: `documentation ${source}`,
        about: urn,
        modifier: source === "" ? undefined : source,
        parameters: { documentation },
        words: "documentation",
        value: documentation,
      };
    }),
  dataProductProperties: (value, urn) =>
    named(
      ...(["ASSET_MEMBERSHIP", "asset", "assetUrn"] as const),
      objectsIn(value.assets).map((asset) => text(asset.destinationUrn)),
      urn,
    ),
  glossaryTermInfo: (value, urn) => parent(value.parentNode, urn),
  glossaryNodeInfo: (value, urn) => parent(value.parentNode, urn),
  domainProperties: (value, urn) => parent(value.parentDomain, urn),
  container: (value, urn) => parent(value.container, urn),
  glossaryRelatedTerms: (value, urn) =>
    Object.entries(value).flatMap(([relation, related]) =>
      stringsIn(related).map((modifier) => ({
        category: "RELATED_ENTITIES",
        id: `${relation} ${modifier}`,
        about: urn,
        modifier,
        parameters: { relationshipType: relation, entityUrn: modifier },
        words: `relation ${relation} to ${modifier}`,
        value: "",
      })),
    ),
  businessAttributes: (value, urn) =>
    objectsIn([value.businessAttribute]).flatMap(({ businessAttributeUrn }) =>
      named(
        ...(["BUSINESS_ATTRIBUTE", "business attribute", "businessAttributeUrn"] as const),
        stringsIn([businessAttributeUrn]),
        urn,
      ),
    ),
  forms: (value, urn) => [
    ...forms(value, "incompleteForms", "INCOMPLETE", urn),
    ...forms(value, "completedForms", "COMPLETE", urn),
  ],
  versionProperties: (value, urn) =>
    objectsIn([value.version]).map((version) => ({
      category: "VERSIONING",
      id: "version",
      about: urn,
      words: "version",
      parameters: { versionTag: version.versionTag, versionSet: value.versionSet },
      value: text(version.versionTag),
    })),
};

/** The forms of a list: assigned to the entity, and how far they are filled in. */
function forms(value: JsonObject, list: string, status: string, about: string): readonly Fact[] {
  const verified = new Set(objectsIn(value.verifications).map(({ form }) => text(form)));
  return objectsIn(value[list]).map(({ urn }) => {
    const formUrn = text(urn);
    const isVerified = verified.has(formUrn);
    return {
      category: "FORM",
      id: formUrn,
      about,
      modifier: formUrn,
      parameters: { formUrn, status, verified: isVerified },
      words: `form ${formUrn}`,
      value: isVerified ? `${status}, verified` : status,
    };
  });
}

function tags(value: unknown, about: string, parameters: JsonObject = {}): readonly Fact[] {
  const urns = objectsIn(objectOf(value).tags).map((one) => text(one.tag));
  return named("TAG", "tag", "tagUrn", urns, about, parameters);
}

function terms(value: unknown, about: string, parameters: JsonObject = {}): readonly Fact[] {
  const urns = objectsIn(objectOf(value).terms).map((one) => text(one.urn));
  return named("GLOSSARY_TERM", "term", "termUrn", urns, about, parameters);
}

/** Facts that reference another entity and cannot be modified. */
function named(
  category: ChangeCategory,
  word: string,
  parameter: string,
  urns: readonly string[],
  about: string,
  parameters: JsonObject = {},
): readonly Fact[] {
  return urns.map((modifier) => ({
    category,
    id: `${about} ${modifier}`,
    about,
    modifier,
    value: "",
    parameters: { ...parameters, [parameter]: modifier },
    words: `${word} ${modifier}`,
  }));
}

function parent(value: unknown, about: string): readonly Fact[] {
  const modifier = text(value);
  if (modifier === "") return [];
  return [
    {
      category: "PARENT",
      id: "parent",
      about,
      modifier,
      words: "parent",
      value: modifier,
      parameters: { parentUrn: modifier },
    },
  ];
}

function description(value: JsonObject, about: string): readonly Fact[] {
  const found = DESCRIPTION_MEMBERS.map((member) => text(value[member])).find((one) => one !== "");
  if (found === undefined) return [];
  return [
    {
      category: "DOCUMENTATION",
      id: "description",
      about,
      words: "documentation",
      parameters: { description: found },
      value: found,
    },
  ];
}

/** The fact that a dataset has a field; `field` is a member of `schemaMetadata.fields`. */
export function schemaField(field: JsonObject, urn: string): Fact {
  const fieldPath = text(field.fieldPath);
  const fieldUrn = fieldUrnOf(urn, fieldPath);
  const type = text(field.nativeDataType);
  return {
    category: "TECHNICAL_SCHEMA",
    id: fieldUrn,
    about: urn,
    modifier: fieldUrn,
    parameters: { fieldPath, fieldUrn, nullable: field.nullable === true },
    words: `field ${fieldPath}`,
    breaking: true,
    type,
    value: field.nullable === true ? `${type}, nullable` : type,
  };
}

function primaryKey(fieldPaths: readonly string[], about: string): readonly Fact[] {
  if (fieldPaths.length === 0) return [];
  return [
    {
      category: "TECHNICAL_SCHEMA",
      id: "primary key",
      about,
      words: "primary key",
      parameters: { primaryKeys: fieldPaths },
      value: fieldPaths.join(", "),
      breaking: true,
    },
  ];
}

/** The facts of a column, from its source and its editors. */
function ofField(field: JsonObject, urn: string, tagged: string, meant: string): readonly Fact[] {
  const fieldPath = text(field.fieldPath);
  const about = fieldUrnOf(urn, fieldPath);
  const of = { fieldPath, parentUrn: urn };
  const documented = description(field, about).map((fact) => ({
    ...fact,
    id: `description ${about}`,
    modifier: about,
    parameters: { ...fact.parameters, ...of },
  }));
  return [...documented, ...tags(field[tagged], about, of), ...terms(field[meant], about, of)];
}

/** In the namespace of the entity's own urn. */
function fieldUrnOf(urn: string, fieldPath: string): string {
  const [, namespace] = urn.split(":", 2);
  return `urn:${namespace}:schemaField:(${urn},${fieldPath})`;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
