/** Values of structured properties of assets and columns. */

import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { objectsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { MappedAspect } from "../../mapping/aspect-value.ts";
import type { Maybe } from "../../maybe.ts";
import { columnOf } from "../assets/columns.ts";
import { stampOf } from "../changes.ts";
import { columnResource, rejectUnknownColumns } from "../label-resources.ts";
import { anyOf, type PatchOperation, patchOf, rejectMissing, urnOf, write } from "../writing.ts";

export interface PropertyValue {
  readonly stringValue?: Maybe<string>;
  readonly numberValue?: Maybe<number>;
}

export interface PropertyInput {
  readonly structuredPropertyUrn: string;
  readonly values: readonly PropertyValue[];
}

/** A value in the form of the aspect. Throws `malformed` unless exactly one of the members is set. */
export function storedValue({ stringValue, numberValue }: PropertyValue): object {
  if (typeof stringValue === "string" && typeof numberValue !== "number") {
    return { string: stringValue };
  }
  if (typeof numberValue === "number" && typeof stringValue !== "string") {
    return { double: numberValue };
  }
  throw new CatalogError("malformed", "a value has both or none of stringValue and numberValue", {
    hint: "Send exactly one of them",
  });
}

/** The patch that replaces the values of the given properties of an asset. */
export async function valuesPatch(
  urn: string,
  properties: readonly PropertyInput[],
  viewer: Viewer,
) {
  const stored = objectsIn(
    (await viewer.loader.load(urn)).aspect("structuredProperties")?.properties,
  );
  const lastModified = stampOf(viewer);
  const operations = properties.flatMap(({ structuredPropertyUrn, values }): PatchOperation[] => {
    const propertyUrn = urnOf(structuredPropertyUrn, ["structuredProperty"], viewer);
    const before = stored.find((one) => one.propertyUrn === propertyUrn);
    const created = before?.created ?? lastModified;
    const value = { propertyUrn, values: values.map(storedValue), created, lastModified };
    const path = ["properties", propertyUrn];
    // Values of other sources go: the property has these values from now on.
    return [
      { op: "remove", path },
      { op: "add", path, value },
    ];
  });
  return patchOf(urn, "structuredProperties", operations);
}

/** Rejects a missing asset. A column exists if the schema of its dataset has it. */
async function rejectMissingAsset(urn: string, viewer: Viewer): Promise<void> {
  if (entityTypeOf(urn) !== "schemaField") return rejectMissing([urn], viewer);
  const { dataset, fieldPath } = columnOf(urn, viewer);
  await rejectUnknownColumns([columnResource(dataset, fieldPath)], viewer);
}

/** Columns take the privilege of their dataset, too. */
function toEditProperties(urn: string, viewer: Viewer) {
  const on = [anyOf(["EDIT_ENTITY", "EDIT_ENTITY_PROPERTIES"], [urn])];
  if (entityTypeOf(urn) !== "schemaField") return on;
  const { dataset } = columnOf(urn, viewer);
  return [...on, anyOf(["EDIT_ENTITY", "EDIT_ENTITY_PROPERTIES"], [dataset])];
}

const propertiesOf = async (urn: string, viewer: Viewer) =>
  new MappedAspect((await viewer.loader.load(urn)).aspect("structuredProperties") ?? {}, urn);

interface UpsertInput {
  readonly assetUrn: string;
  readonly structuredPropertyInputParams: readonly PropertyInput[];
}

interface RemoveInput {
  readonly assetUrn: string;
  readonly structuredPropertyUrns: readonly string[];
}

export const propertyValueMutations = {
  async upsertStructuredProperties({ input }: InputArgs<UpsertInput>, viewer: Viewer) {
    const { assetUrn: urn, structuredPropertyInputParams: properties } = input;
    await rejectMissingAsset(urn, viewer);
    const urns = properties.map(({ structuredPropertyUrn }) => structuredPropertyUrn);
    await rejectMissing([...new Set(urns)], viewer);
    const proposals = properties.length === 0 ? [] : [await valuesPatch(urn, properties, viewer)];
    await write(proposals, viewer, toEditProperties(urn, viewer));
    return propertiesOf(urn, viewer);
  },
  async removeStructuredProperties({ input }: InputArgs<RemoveInput>, viewer: Viewer) {
    const { assetUrn: urn, structuredPropertyUrns } = input;
    await rejectMissingAsset(urn, viewer);
    const operations = structuredPropertyUrns.map(
      (property): PatchOperation => ({
        ...{ op: "remove", path: ["properties", urnOf(property, ["structuredProperty"], viewer)] },
      }),
    );
    const proposals =
      operations.length === 0 ? [] : [patchOf(urn, "structuredProperties", operations)];
    await write(proposals, viewer, toEditProperties(urn, viewer));
    return propertiesOf(urn, viewer);
  },
};
