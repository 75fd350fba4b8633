/**
 * Rules of aspects that refer to other entities, as in DataHub's aspect validators: lifecycle stages,
 * version sets, logical parents, settings of structured properties, prompts of forms.
 */

import { listed } from "../../lib/format.ts";
import { type JsonObject, objectOf, objectsIn, stringsIn } from "../../lib/json.ts";
import { sameJson } from "../../lib/same-json.ts";
import { type CatalogError, invalid } from "../errors.ts";
import { entityTypeOf, nestedUrn } from "../urn.ts";
import type { OtherEntities, OthersNeeded } from "./other-entities.ts";

export interface ReferenceContext {
  /** Urn of the entity that has the aspect. */
  readonly urn: string;
  readonly previous?: JsonObject | undefined;
  /** Undefined when other entities are unknown; then nothing about them is checked. */
  readonly others?: OtherEntities | undefined;
}

interface ReferenceRule {
  readonly needs?: OthersNeeded;
  readonly rejection: (value: JsonObject, context: ReferenceContext) => CatalogError | undefined;
}

/** status.lifecycleStage: the stage exists and admits the entity's type. */
export const stageRule: ReferenceRule = {
  needs: { types: ["lifecycleStageType"] },
  rejection({ lifecycleStage: stage }, { urn, previous, others }) {
    if (typeof stage !== "string" || others === undefined) return undefined;
    if (stage === previous?.lifecycleStage) return undefined;
    const found = others.find(stage, STAGE_INFO);
    const info = found?.aspect(STAGE_INFO);
    if (info === undefined) {
      return invalid(
        `/lifecycleStage: Lifecycle stage '${stage}' does not exist`,
        "Write its lifecycleStageTypeInfo first, or in the same request",
      );
    }
    const admitted = stringsIn(info.entityTypes);
    const type = entityTypeOf(urn);
    if (admitted.length === 0 || admitted.includes(type)) return undefined;
    return invalid(
      `/lifecycleStage: Lifecycle stage '${stage}' does not apply to entity type '${type}'`,
      `It applies to ${admitted.join(", ")}`,
    );
  },
};
const STAGE_INFO = "lifecycleStageTypeInfo";

/** versionProperties: the version set is of the entity's type and has the same versioning scheme. */
export const versionRule: ReferenceRule = {
  needs: { types: ["versionSet"] },
  rejection(value, { urn, previous, others }) {
    if (sameJson(value, previous)) return undefined;
    const { versionSet, versioningScheme: scheme = VERSIONING_SCHEME, sortId } = value;
    const set = String(versionSet);
    // urn:li:versionSet:(id,entity type)
    const expected = set.slice(set.lastIndexOf(",") + 1, -1);
    if (expected !== entityTypeOf(urn)) {
      return invalid(
        `/versionSet: Version Set specified entity type does not match: "${set}" is of "${expected}", the entity is of "${entityTypeOf(urn)}"`,
        `Use a version set of entity type ${entityTypeOf(urn)}`,
      );
    }
    const properties = others?.find(set, SET_PROPERTIES)?.aspect(SET_PROPERTIES);
    if (properties !== undefined && properties.versioningScheme !== scheme) {
      return invalid(
        `/versioningScheme: Versioning Scheme does not match Version Set properties: "${scheme}"`,
        `The version set has ${properties.versioningScheme}`,
      );
    }
    if (scheme !== GENERATED || /^[A-Z]{8}$/.test(String(sortId))) return undefined;
    return invalid(
      `/sortId: Invalid sortID for Versioning Scheme ${scheme}: "${sortId}"`,
      "Such an id is eight capital letters, AAAAAAAA for the first version",
    );
  },
};
const SET_PROPERTIES = "versionSetProperties";
/** The model's default of `versioningScheme`, which a stored version may leave out. */
export const VERSIONING_SCHEME = "LEXICOGRAPHIC_STRING";
const GENERATED = "ALPHANUMERIC_GENERATED_BY_DATAHUB";

/** versionSetProperties: the versioning scheme never changes. */
export const versionSetRule: ReferenceRule = {
  rejection({ versioningScheme: scheme }, { previous }) {
    if (previous === undefined || scheme === previous.versioningScheme) return undefined;
    return invalid(
      `/versioningScheme: Versioning Scheme cannot change from "${previous.versioningScheme}" to "${scheme}"`,
      "Create another version set",
    );
  },
};

/** logicalParent: a dataset for a dataset; for a column, a column, and the schemas have both. */
export const logicalParentRule: ReferenceRule = {
  needs: {
    types: ["schemaField"],
    beside: (urn) => (entityTypeOf(urn) === "schemaField" ? datasetOf(urn) : []),
  },
  rejection({ parent }, { urn, previous, others }) {
    const edge = objectOf(parent).destinationUrn;
    const before = objectOf(previous?.parent).destinationUrn;
    if (typeof edge !== "string" || edge === before) return undefined;
    const [own, type] = [entityTypeOf(urn), entityTypeOf(edge)];
    if (own === "dataset" && type !== "dataset") {
      return invalid(
        `/parent/destinationUrn: the logical parent of a dataset is a dataset, not "${edge}"`,
        "Use the urn of a dataset; columns have their own logical parents",
      );
    }
    if (own !== "schemaField" || type !== "schemaField" || others === undefined) return undefined;
    const missing = [urn, edge].find((column) => !isInSchema(column, others));
    if (missing === undefined) return undefined;
    return invalid(
      `/parent/destinationUrn: "${missing}" is not a column in the schema of its dataset`,
      "Write the schemaMetadata of both datasets first, or in the same request",
    );
  },
};

const datasetOf = (column: string): readonly string[] => {
  const dataset = nestedUrn(column, "dataset");
  return dataset === undefined ? [] : [dataset];
};

/** True for a column of a dataset; other entities have no schema. */
function isInSchema(column: string, others: OtherEntities): boolean {
  const [dataset] = datasetOf(column);
  if (dataset === undefined) return true;
  const fields = objectsIn(
    others.find(dataset, "schemaMetadata")?.aspect("schemaMetadata")?.fields,
  );
  return fields.some(({ fieldPath }) => column.endsWith(`${dataset},${fieldPath})`));
}

/** structuredPropertySettings: a hidden property is shown nowhere; only one property is the badge. */
export const settingsRule: ReferenceRule = {
  needs: { all: { type: "structuredProperty", keyOf: () => "" } },
  rejection(value, { urn, previous, others }) {
    if (sameJson(value, previous)) return undefined;
    // Safe lookup: DISPLAYS is a closed list.
    const shown = DISPLAYS.filter((name) => value[name] === true);
    if (value.isHidden === true && shown.length > 0) {
      return invalid(
        `/isHidden: Cannot have property isHidden = true while other display location settings are also true: ${listed(shown)}`,
        "Set isHidden or the others to false",
      );
    }
    if (value.showAsAssetBadge !== true || previous?.showAsAssetBadge === true) return undefined;
    const badge = others?.withKey("structuredProperty", "").find((other) => {
      const removed = other.aspect("status")?.removed === true;
      const settings = other.aspect("structuredPropertySettings");
      return other.urn !== urn && !removed && settings?.showAsAssetBadge === true;
    });
    if (badge === undefined) return undefined;
    return invalid(
      `/showAsAssetBadge: Cannot have more than one property set with show as badge: "${badge.urn}" is set`,
      "Set showAsAssetBadge of that property to false first",
    );
  },
};
const DISPLAYS: readonly string[] = [
  ...["showInSearchFilters", "showInAssetSummary", "showAsAssetBadge", "showInColumnsTable"],
];

/** formInfo: prompt ids are unique over all forms. */
export const promptsRule: ReferenceRule = {
  needs: { all: { type: "form", keyOf: () => "" } },
  rejection(value, { urn, previous, others }) {
    if (sameJson(value, previous)) return undefined;
    const ids = promptIds(value);
    const twice = ids.filter((id, i) => ids.indexOf(id) < i && !promptIds(previous).includes(id));
    if (twice.length > 0) {
      return invalid(
        `/prompts: Prompt IDs must be unique, there are duplicate prompt IDs given: ${listed(twice)}`,
        "Use a different id for each prompt",
      );
    }
    const own = new Set(ids.filter((id) => !promptIds(previous).includes(id)));
    for (const form of others?.withKey("form", "") ?? []) {
      if (form.urn === urn) continue;
      const taken = promptIds(form.aspect("formInfo")).find((id) => own.has(id));
      if (taken === undefined) continue;
      return invalid(
        `/prompts: Cannot have duplicate prompt IDs across any form: "${taken}" is a prompt of "${form.urn}"`,
        "Prompt ids must be unique over all forms: use another id",
      );
    }
    return undefined;
  },
};

const promptIds = (form: JsonObject | undefined): readonly string[] =>
  objectsIn(form?.prompts).map(({ id }) => String(id));

/** propertyDefinition: its types exist, and its search field is unique. */
export const definitionNeeds: OthersNeeded = {
  types: ["entityType"],
  all: { type: "structuredProperty", keyOf: searchedName },
};

/** Name of the search field, with _ instead of dots: `io.acme.tier` and `io.acme_tier` share one. */
export function searchedName(urn: string): string {
  return urn.split(":").slice(3).join(":").replaceAll(".", "_");
}

/** The error of a definition that other entities exclude; undefined when there is none. */
export function rejectionOfReferences(
  value: JsonObject,
  { urn, previous, others }: ReferenceContext,
): CatalogError | undefined {
  if (others === undefined || sameJson(value, previous)) return undefined;
  const before = stringsIn(objectOf(previous?.typeQualifier).allowedTypes);
  const added = stringsIn(objectOf(value.typeQualifier).allowedTypes).filter(
    (type) => !before.includes(type),
  );
  const wrong = added.find(
    (type) => entityTypeOf(type) !== "entityType" || others.find(type) === undefined,
  );
  if (wrong !== undefined) {
    return invalid(
      `/typeQualifier/allowedTypes: "${wrong}" is not an entity type that exists`,
      "Use urns of entity types, such as urn:li:entityType:datahub.dataset",
    );
  }
  if (previous !== undefined) return undefined;
  const namesake = others.withKey("structuredProperty", searchedName(urn)).find((other) => {
    const removed = other.aspect("status")?.removed === true;
    return other.urn !== urn && !removed && other.aspect("propertyDefinition") !== undefined;
  });
  if (namesake === undefined) return undefined;
  return invalid(
    `/qualifiedName: "${urn}" and "${namesake.urn}" have one search field: names that differ only by '.' and '_' collide`,
    "Define the property with another id and qualified name",
  );
}
