/** Facets that jobs and datasets have in common: documentation, owners and tags. */
import { type Contribution, type ListItem, latest } from "../contribution.ts";
import type { Urns } from "../names.ts";
import {
  type EventContext,
  facet,
  listOf,
  nonEmptyText,
  object,
  text,
  type ValueOf,
} from "./facet-table.ts";

export const documentation = facet(
  "documentation",
  object({ description: text, "contentType?": text }),
  ({ description }, { urn, properties }) => [latest(urn, properties, "description", description)],
);

const ownerName = object({ name: nonEmptyText, "type?": text });

const ownershipTypes = [
  "TECHNICAL_OWNER",
  "BUSINESS_OWNER",
  "DATA_STEWARD",
  "DEVELOPER",
  "DATAOWNER",
  "DELEGATE",
  "PRODUCER",
  "CONSUMER",
  "STAKEHOLDER",
];
const DEFAULT_TYPE = "TECHNICAL_OWNER";

const GROUP = /^(?:team|group|corpGroup):/i;
const USER = /^(?:user|corpuser):/i;
const URN = /^urn:[^:]+:(corpuser|corpGroup):(.+)$/s;

/** `team:data` is a group, `user:mira` and any other name a user. */
function ownerUrn(name: string, { of }: Urns): string {
  const [, type, id] = URN.exec(name) ?? [];
  if (type !== undefined && id !== undefined) return of(type, id);
  if (GROUP.test(name)) return of("corpGroup", name.replace(GROUP, ""));
  return of("corpuser", name.replace(USER, ""));
}

const ownerItem = (
  { name, type = "" }: ValueOf<typeof ownerName>,
  urn: string,
  { urns }: EventContext,
): ListItem => {
  const known = type.toUpperCase().replaceAll(/[\s-]/g, "_");
  return {
    kind: "item",
    urn,
    aspect: "ownership",
    field: "owners",
    item: {
      owner: ownerUrn(name, urns),
      type: ownershipTypes.includes(known) ? known : DEFAULT_TYPE,
      source: { type: "SERVICE" },
    },
    keyOf: (item) => {
      const { owner, type: ownerType } = item as { owner: string; type: string };
      return `${owner}/${ownerType}`;
    },
  };
};

export const ownership = facet(
  "ownership",
  object({ "owners?": listOf(ownerName) }),
  ({ owners = [] }, { urn }, context) => owners.map((owner) => ownerItem(owner, urn, context)),
);

/** `field`: a column. */
const tag = object({ key: nonEmptyText, value: text, "field?": text });

const tagOf = (item: unknown): string => (item as { readonly tag: string }).tag;

function tagItem(
  { key, value, field }: ValueOf<typeof tag>,
  urn: string,
  { urns }: EventContext,
): Contribution {
  const item = { tag: urns.of("tag", value === "" ? key : `${key}:${value}`) };
  const shared = { kind: "item", urn, item, keyOf: tagOf } as const;
  if (field === undefined) return { ...shared, aspect: "globalTags", field: "tags" };
  return {
    ...shared,
    aspect: "editableSchemaMetadata",
    field: "globalTags/tags",
    within: { list: "editableSchemaFieldInfo", key: field, keyField: "fieldPath" },
  };
}

export const tags = facet(
  "tags",
  object({ "tags?": listOf(tag) }),
  ({ tags: list = [] }, { urn }, context) => list.map((one) => tagItem(one, urn, context)),
);

export const subTypeItem = (urn: string, item: string): Contribution => ({
  kind: "item",
  urn,
  aspect: "subTypes",
  field: "typeNames",
  item,
  keyOf: String,
});
