/** Definitions of structured properties. */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { given, stampOf } from "../changes.ts";
import { create, deleting, distinct, operationsOf } from "../declared.ts";
import { type PatchOperation, patchOf, rejectMissing, urnOf, write } from "../writing.ts";
import { type PropertyValue, storedValue } from "./property-values.ts";

interface Settings {
  readonly isHidden?: Maybe<boolean>;
  readonly showInSearchFilters?: Maybe<boolean>;
  readonly showInAssetSummary?: Maybe<boolean>;
  readonly hideInAssetSummaryWhenEmpty?: Maybe<boolean>;
  readonly showAsAssetBadge?: Maybe<boolean>;
  readonly showInColumnsTable?: Maybe<boolean>;
}

interface AllowedValue extends PropertyValue {
  readonly description?: Maybe<string>;
}

interface NewProperty {
  readonly id?: Maybe<string>;
  readonly qualifiedName?: Maybe<string>;
  readonly displayName?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly immutable?: Maybe<boolean>;
  readonly valueType: string;
  readonly typeQualifier?: Maybe<{ readonly allowedTypes?: Maybe<readonly string[]> }>;
  readonly allowedValues?: Maybe<readonly AllowedValue[]>;
  readonly cardinality?: Maybe<string>;
  readonly entityTypes: readonly string[];
  readonly allowedPlatforms?: Maybe<readonly string[]>;
  readonly settings?: Maybe<Settings>;
}

interface PropertyUpdate {
  readonly urn: string;
  readonly displayName?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly immutable?: Maybe<boolean>;
  readonly typeQualifier?: Maybe<{ readonly newAllowedTypes?: Maybe<readonly string[]> }>;
  readonly newAllowedValues?: Maybe<readonly AllowedValue[]>;
  readonly setCardinalityAsMultiple?: Maybe<boolean>;
  readonly newEntityTypes?: Maybe<readonly string[]>;
  readonly newAllowedPlatforms?: Maybe<readonly string[]>;
  readonly settings?: Maybe<Settings>;
}

/** A property that the summary of an asset omits is not hidden there when it is empty. */
const settingsOf = (settings: Settings) =>
  given({
    ...settings,
    ...(settings.showInAssetSummary === false && { hideInAssetSummaryWhenEmpty: false }),
  });

const allowedValue = ({ description, ...value }: AllowedValue) =>
  given({ value: storedValue(value), description });

/** The id of a new property is its qualified name. */
function idOf({ id, qualifiedName }: NewProperty): string {
  const [one = randomUUID(), other = one] = distinct([qualifiedName, id]);
  if (one === other) return one;
  throw new CatalogError("malformed", `id "${id}" differs from qualifiedName "${one}"`, {
    hint: "Send one of them, or the same text twice",
  });
}

function createStructuredProperty({ input }: InputArgs<NewProperty>, viewer: Viewer) {
  const qualifiedName = idOf(input);
  const stamp = stampOf(viewer);
  const { displayName, description, immutable, valueType, cardinality, entityTypes } = input;
  const { allowedTypes } = input.typeQualifier ?? {};
  const definition = given({
    ...{ qualifiedName, displayName, description, immutable, valueType, cardinality, entityTypes },
    typeQualifier: allowedTypes ? { allowedTypes } : undefined,
    allowedValues: input.allowedValues?.map(allowedValue),
    allowedPlatforms: input.allowedPlatforms,
    created: stamp,
    lastModified: stamp,
  });
  const structuredPropertySettings = input.settings && {
    ...settingsOf(input.settings),
    lastModified: stamp,
  };
  const creation = {
    entityType: "structuredProperty",
    id: () => qualifiedName,
    aspects: () => ({
      propertyDefinition: definition,
      ...(structuredPropertySettings && { structuredPropertySettings }),
    }),
    owned: () => false,
    answer: "entity",
  } as const;
  return create(creation, input, viewer).then(entityOf);
}

const added = (list: string, values: Maybe<readonly string[]>): readonly PatchOperation[] =>
  (values ?? []).map((value) => ({ op: "add", path: [...list.split("/"), value], value }));

async function updateStructuredProperty({ input }: InputArgs<PropertyUpdate>, viewer: Viewer) {
  const urn = urnOf(input.urn, ["structuredProperty"], viewer);
  await rejectMissing([urn], viewer);
  const { displayName, description, immutable, setCardinalityAsMultiple, settings } = input;
  const lastModified = stampOf(viewer);
  const members = given({
    ...{ displayName, description, immutable },
    cardinality: setCardinalityAsMultiple ? "MULTIPLE" : undefined,
  });
  const values = (input.newAllowedValues ?? []).map((one): PatchOperation => {
    const text = String(one.stringValue ?? one.numberValue ?? "");
    return { op: "add", path: ["allowedValues", text], value: allowedValue(one) };
  });
  const operations = [
    ...operationsOf(members),
    ...values,
    ...added("typeQualifier/allowedTypes", input.typeQualifier?.newAllowedTypes),
    ...added("entityTypes", input.newEntityTypes),
    ...added("allowedPlatforms", input.newAllowedPlatforms),
  ];
  const keys = { "typeQualifier/allowedTypes": [] };
  const stamped = operationsOf({ lastModified });
  const proposals = [];
  if (operations.length > 0) {
    proposals.push(patchOf(urn, "propertyDefinition", [...operations, ...stamped], keys));
  }
  if (settings) {
    const changed = [...operationsOf(settingsOf(settings)), ...stamped];
    proposals.push(patchOf(urn, "structuredPropertySettings", changed));
  }
  await write(proposals, viewer);
  return entityOf(urn);
}

export const propertyMutations = {
  createStructuredProperty,
  updateStructuredProperty,
  deleteStructuredProperty: deleting(["structuredProperty"]),
};
