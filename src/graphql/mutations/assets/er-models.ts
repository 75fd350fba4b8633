/** Entity relationships: how the columns of two datasets refer to each other. */
import { createHash } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { given, stampOf } from "../changes.ts";
import { create, deleting, operationsOf, rejectBlank } from "../declared.ts";
import { anyOf, patchOf, type Required, rejectMissing, urnOf, write } from "../writing.ts";

interface Properties {
  readonly name: string;
  readonly source: string;
  readonly destination: string;
  readonly relationshipFieldmappings?: Maybe<
    readonly { readonly sourceField?: Maybe<string>; readonly destinationField?: Maybe<string> }[]
  >;
  readonly erModelRelationshipCardinality?: Maybe<string>;
}

interface RelationshipInput {
  readonly properties?: Maybe<Properties>;
  readonly editableProperties?: Maybe<{
    readonly name?: Maybe<string>;
    readonly description: string;
  }>;
}

/** The same relationship has the same id, whichever end is the source. */
function idOf({ name, source, destination }: Properties): string {
  const [smaller = "", greater = ""] = [source, destination].sort();
  const key = { Destination: smaller, ERModelRelationName: name, Source: greater };
  return createHash("md5").update(JSON.stringify(key)).digest("hex");
}

const repeats = (texts: readonly unknown[]): boolean => new Set(texts).size < texts.length;

/** A column that several columns of the other end refer to makes its end the side of many. */
function relationshipOf(input: Properties, viewer: Viewer) {
  const { name, erModelRelationshipCardinality: cardinality } = input;
  rejectBlank(name);
  const mappings = (input.relationshipFieldmappings ?? []).map((one) => {
    const { sourceField, destinationField } = one;
    if (sourceField && destinationField) return { sourceField, destinationField };
    throw new CatalogError("malformed", "a field mapping names only one column", {
      hint: "Send sourceField and destinationField",
    });
  });
  const sides = [
    mappings.map((one) => one.sourceField),
    mappings.map((one) => one.destinationField),
  ];
  const derived = sides.map((side) => (repeats(side) ? "N" : "ONE")).join("_");
  return {
    name,
    source: urnOf(input.source, ["dataset"], viewer),
    destination: urnOf(input.destination, ["dataset"], viewer),
    relationshipFieldMappings: mappings,
    cardinality: cardinality ?? derived,
    lastModified: stampOf(viewer),
  };
}

const toRelate = ({ source, destination }: { source: string; destination: string }): Required => [
  anyOf(["EDIT_ENTITY", "CREATE_ENTITY_ER_MODEL_RELATIONSHIP"], [source, destination]),
];

async function createERModelRelationship({ input }: InputArgs<RelationshipInput>, viewer: Viewer) {
  const { properties, editableProperties } = input;
  if (!properties) {
    throw new CatalogError("malformed", "properties are missing", {
      hint: "Send name, source and destination",
    });
  }
  const stamp = stampOf(viewer);
  const value = { ...relationshipOf(properties, viewer), created: stamp };
  const creation = {
    entityType: "erModelRelationship",
    id: () => idOf(value),
    dependencies: () => [value.source, value.destination],
    aspects: () => ({
      erModelRelationshipProperties: value,
      ...(editableProperties && {
        editableERModelRelationshipProperties: {
          ...given({ ...editableProperties }),
          ...{ created: stamp, lastModified: stamp },
        },
      }),
    }),
    required: () => toRelate(value),
    owned: () => false,
    answer: "entity",
  } as const;
  return entityOf(await create(creation, input, viewer));
}

async function updateERModelRelationship(
  { urn: text, input }: UpdateArgs<RelationshipInput>,
  viewer: Viewer,
): Promise<true> {
  const urn = urnOf(text, ["erModelRelationship"], viewer);
  await rejectMissing([urn], viewer);
  const { properties, editableProperties } = input;
  const proposals = [];
  if (properties) {
    const value = relationshipOf(properties, viewer);
    await rejectMissing([value.source, value.destination], viewer);
    const members = operationsOf({ ...value });
    proposals.push(patchOf(urn, "erModelRelationshipProperties", members));
  }
  if (editableProperties) {
    const members = { ...given({ ...editableProperties }), lastModified: stampOf(viewer) };
    proposals.push(patchOf(urn, "editableERModelRelationshipProperties", operationsOf(members)));
  }
  return write(proposals, viewer);
}

export const erModelMutations = {
  createERModelRelationship,
  updateERModelRelationship,
  deleteERModelRelationship: deleting(["erModelRelationship"]),
};
