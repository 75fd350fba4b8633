/**
 * Write rules of aspects: derived fields, and constraints that schemas cannot express. They run
 * after the validation of the schema and before the comparison with the current value. They are
 * pure.
 */
import { listed } from "../../lib/format.ts";
import { type JsonObject, jsonObject, objectOf, objectsIn, stringsIn } from "../../lib/json.ts";
import { type CatalogError, invalid } from "../errors.ts";
import { rejectionOfSchedule } from "../query/time-zone.ts";
import { rootUserId } from "../urn.ts";
import { rejectionOfDefinition } from "./definition-changes.ts";
import { type LinkPath, rejectionOfLinks } from "./link-rules.ts";
import type { OthersNeeded } from "./other-entities.ts";
import { policyRule } from "./policy-rules.ts";
import { type PropertyDefinition, rejectionOfValues } from "./property-values.ts";
import {
  definitionNeeds,
  logicalParentRule,
  promptsRule,
  type ReferenceContext,
  rejectionOfReferences,
  settingsRule,
  stageRule,
  versionRule,
  versionSetRule,
} from "./reference-rules.ts";

export interface WriteContext extends ReferenceContext {
  /** Namespace of the generated urns. */
  readonly namespace: string;
  /** Current value of another aspect of the entity; undefined if it has no such aspect. */
  readonly sibling?: ((aspect: string) => JsonObject | undefined) | undefined;
  /** The value is the result of a patch of `previous`. */
  readonly patched?: boolean | undefined;
  /** The fields of the aspect with links. */
  readonly links?: readonly LinkPath[] | undefined;
}

interface WriteRule {
  /** The other entities that the rule reads. */
  readonly needs?: OthersNeeded;
  /** The rule compares with the aspect's current value. */
  readonly needsCurrent?: boolean;
  readonly apply?: (value: JsonObject, context: WriteContext) => JsonObject;
  /** The error of the value that `apply` returned; undefined if it is valid. */
  readonly rejection?: (value: JsonObject, context: WriteContext) => CatalogError | undefined;
}

const rules: ReadonlyMap<string, WriteRule> = new Map<string, WriteRule>([
  ["ownership", { apply: withOwnerTypes }],
  ["domains", { apply: syncedDomains, needsCurrent: true }],
  ["assertionInfo", { apply: withAssertionTarget }],
  ["dataHubPolicyInfo", policyRule],
  [
    "structuredProperties",
    {
      needs: { types: ["structuredProperty"] },
      apply: withoutUndefinedProperties,
      rejection: wrongProperties,
    },
  ],
  ["status", { ...stageRule, rejection: wrongStatus }],
  ["corpUserInfo", { rejection: wrongUser }],
  ["dataHubIngestionSourceInfo", { rejection: rejectionOfSchedule }],
  ["versionProperties", versionRule],
  ["versionSetProperties", { ...versionSetRule, needsCurrent: true }],
  ["logicalParent", logicalParentRule],
  ["structuredPropertySettings", settingsRule],
  ["formInfo", promptsRule],
  [
    "propertyDefinition",
    { needsCurrent: true, needs: definitionNeeds, rejection: wrongDefinition },
  ],
  ["schemaMetadata", { rejection: wrongPaths("schemaMetadata", "fields") }],
  [
    "editableSchemaMetadata",
    { rejection: wrongPaths("editableSchemaMetadata", "editableSchemaFieldInfo") },
  ],
]);

/** The other entities that the aspect's rule reads. */
export const othersNeeded = (aspect: string): OthersNeeded | undefined => rules.get(aspect)?.needs;

/** The aspect's rule needs the current value (`previous`). */
export const looksBack = (aspect: string): boolean => rules.get(aspect)?.needsCurrent ?? false;

/** The value as it is written. Throws `invalid` when the aspect's rule rejects it. */
export const applyWriteRule = (
  aspect: string,
  value: JsonObject,
  context: WriteContext,
): JsonObject => rules.get(aspect)?.apply?.(value, context) ?? value;

/**
 * Why a value from `applyWriteRule` is rejected; undefined: it is valid. A value rejected without
 * `previous` may be valid with it: writing the current value again is allowed.
 */
export const rejectionOf = (
  aspect: string,
  value: JsonObject,
  context: WriteContext,
): CatalogError | undefined =>
  rules.get(aspect)?.rejection?.(value, context) ??
  rejectionOfLinks(aspect, value, context.previous, context.links ?? []);

/**
 * Derives `ownerTypes`, the owners by ownership type; ignores the value that the client sent.
 * owners [{owner: A, type: DATAOWNER}] → {urn:li:ownershipType:__system__dataowner: [A]}.
 */
function withOwnerTypes(value: JsonObject, { namespace }: WriteContext): JsonObject {
  const ownerTypes = new Map<string, Set<unknown>>();
  for (const owner of objectsIn(value.owners)) {
    const type =
      typeof owner.typeUrn === "string"
        ? owner.typeUrn
        : `urn:${namespace}:ownershipType:__system__${String(owner.type).toLowerCase()}`;
    const owners = ownerTypes.get(type);
    if (owners === undefined) ownerTypes.set(type, new Set([owner.owner]));
    else owners.add(owner.owner);
  }
  const listed = [...ownerTypes].map(([type, owners]) => [type, [...owners]] as const);
  return { ...value, ownerTypes: Object.fromEntries(listed) };
}

/** The members of assertionInfo with a definition. */
const assertionKinds: readonly string[] = [
  ...["datasetAssertion", "freshnessAssertion", "volumeAssertion", "sqlAssertion"],
  ...["fieldAssertion", "schemaAssertion", "customAssertion"],
];

/**
 * `entityUrn` and `fieldPath` follow from the definition of the assertion's kind, whatever the
 * writer sent for them, so that searches find assertions of every kind by entity and column.
 */
function withAssertionTarget(value: JsonObject): JsonObject {
  const { fieldAssertion } = value;
  const named = jsonObject(fieldAssertion)
    ? { ...value, fieldAssertion: withFieldPath(fieldAssertion) }
    : value;
  // Safe lookup: the loop is over a closed list.
  const definitions = assertionKinds.map((kind) => value[kind]).filter(jsonObject);
  const entityUrn = definitions
    .map(({ entity, dataset }) => entity ?? dataset)
    .find((one) => typeof one === "string");
  return entityUrn === undefined ? named : { ...named, entityUrn };
}

function withFieldPath(value: JsonObject): JsonObject {
  const { fieldValuesAssertion, fieldMetricAssertion } = value;
  for (const definition of [fieldValuesAssertion, fieldMetricAssertion]) {
    const { field } = objectOf(definition);
    if (jsonObject(field) && typeof field.path === "string") {
      return { ...value, fieldPath: field.path };
    }
  }
  return value;
}

/** Synchronizes both fields, with manual associations before propagated ones. */
function syncedDomains(value: JsonObject, context: WriteContext): JsonObject {
  const synced = withSyncedDomains(value, context);
  const associations = objectsIn(synced.domainAssociations);
  if (!associations.some(isPropagated)) return synced;
  const sorted = manualFirst(associations, isPropagated);
  const domainAssociations = sorted;
  // A write of `domains` alone keeps the order of its domains.
  if (value.domainAssociations === undefined) return { ...synced, domainAssociations };
  const manual = new Set(sorted.filter((one) => !isPropagated(one)).map(({ domain }) => domain));
  const domains = manualFirst(stringsIn(synced.domains), (urn) => !manual.has(urn));
  return { ...synced, domains, domainAssociations };
}

const manualFirst = <T>(items: readonly T[], propagated: (item: T) => boolean): readonly T[] => [
  ...items.filter((item) => !propagated(item)),
  ...items.filter(propagated),
];

/** DataHub's mark of a propagated association: attribution.sourceDetail.propagated is "true". */
function isPropagated({ attribution }: JsonObject): boolean {
  const { propagated } = objectOf(objectOf(attribution).sourceDetail);
  return String(propagated).toLowerCase() === "true";
}

/**
 * Keeps `domains` and `domainAssociations` in sync: a write may change either field, and the other
 * is derived. Associations of remaining domains keep their context and attribution.
 */
function withSyncedDomains(value: JsonObject, { previous }: WriteContext): JsonObject {
  const domains = distinct(stringsIn(value.domains));
  const domainsBefore = distinct(stringsIn(previous?.domains));
  const associations = objectsIn(value.domainAssociations);
  const associated = distinct(associations.map((member) => String(member.domain)));
  if (sameMembers(domains, associated)) return value;

  const associationsBefore = objectsIn(previous?.domainAssociations);
  const associatedBefore = distinct(associationsBefore.map((member) => String(member.domain)));
  const domainsChanged = previous === undefined || !sameMembers(domains, domainsBefore);
  const associationsChanged =
    value.domainAssociations !== undefined && !sameMembers(associated, associatedBefore);
  // An empty `domains` has no meaning: the field is required, so clients of associations send it.
  if (domainsChanged && associationsChanged && domains.length > 0) {
    throw invalid(
      `domains and domainAssociations of the aspect "domains" name different domains: ${listed(domains)} and ${listed(associated)}`,
      "Change one of the two; the other follows",
    );
  }
  if (associationsChanged) {
    // A value of before associations were kept in step may list domains that none explains.
    const unexplained = domains.filter((urn) => !associatedBefore.includes(urn));
    return withDomains(value, distinct([...unexplained, ...associated]), associations);
  }
  const known = value.domainAssociations === undefined ? associationsBefore : associations;
  return withDomains(value, stringsIn(value.domains), known);
}

/** Both fields: the known associations of the domains in their order, bare ones for the rest. */
function withDomains(
  value: JsonObject,
  domains: readonly string[],
  known: readonly JsonObject[],
): JsonObject {
  const explained = known.filter((member) => domains.includes(String(member.domain)));
  const bare = distinct(domains)
    .filter((urn) => !explained.some((member) => member.domain === urn))
    .map((domain) => ({ domain }));
  return { ...value, domains, domainAssociations: [...explained, ...bare] };
}

function definitionsOf(value: JsonObject): readonly string[] {
  return distinct(objectsIn(value.properties).map((property) => String(property.propertyUrn)));
}

/**
 * Drops properties without a definition; rejects a write of only such properties. Keeps properties
 * that the entity already has, so that a patch of one property does not remove others.
 */
function withoutUndefinedProperties(
  value: JsonObject,
  { previous, others }: WriteContext,
): JsonObject {
  const before = new Set(previous && definitionsOf(previous));
  const properties = objectsIn(value.properties);
  const defined = properties.filter(({ propertyUrn }) => {
    const urn = String(propertyUrn);
    return before.has(urn) || others?.find(urn) !== undefined;
  });
  if (defined.length === properties.length) return value;
  if (defined.length === 0) {
    throw invalid(
      `no structured property of the write is defined: ${listed(definitionsOf(value))}`,
      "Write the propertyDefinition of each first",
    );
  }
  return { ...value, properties: defined };
}

function wrongProperties(
  value: JsonObject,
  { previous, others, patched = false }: WriteContext,
): CatalogError | undefined {
  const before = objectsIn(previous?.properties);
  const definitionOf = (urn: string): PropertyDefinition | undefined => {
    const found = others?.find(urn, "propertyDefinition");
    if (found === undefined) return undefined;
    const removed = found.aspect("status")?.removed === true;
    return { value: found.aspect("propertyDefinition"), removed };
  };
  return rejectionOfValues(objectsIn(value.properties), { before, definitionOf, patched });
}

function wrongDefinition(value: JsonObject, context: WriteContext): CatalogError | undefined {
  const { previous, sibling } = context;
  const removed = sibling?.("status")?.removed === true;
  return (
    rejectionOfDefinition(value, { previous, removed }) ?? rejectionOfReferences(value, context)
  );
}

function wrongStatus(value: JsonObject, context: WriteContext): CatalogError | undefined {
  return rejectionOfRemoval(value, context) ?? stageRule.rejection(value, context);
}

/** The root user and users of the system stay: they act for others, and may have no replacement. */
function rejectionOfRemoval(
  { removed }: JsonObject,
  { urn, namespace, previous, sibling }: WriteContext,
): CatalogError | undefined {
  if (removed !== true || previous?.removed === true) return undefined;
  if (!urn.startsWith(`urn:${namespace}:corpuser:`)) return undefined;
  const isRoot = urn === `urn:${namespace}:corpuser:${rootUserId}`;
  // Without siblings it is unknown whether the user is one of the system.
  const isSystem = sibling === undefined || sibling("corpUserInfo")?.system === true;
  return isRoot || isSystem ? removedBuiltIn(urn) : undefined;
}

/** A removed user cannot become one of the system, whichever of the two aspects comes first. */
function wrongUser(
  { system }: JsonObject,
  { urn, previous, sibling }: WriteContext,
): CatalogError | undefined {
  if (system !== true || previous?.system === true) return undefined;
  if (sibling !== undefined && sibling("status")?.removed !== true) return undefined;
  return invalid(
    `aspect "corpUserInfo", /system: "${urn}" is removed and cannot be a user of the system`,
    "Write its status with removed false first",
  );
}

const removedBuiltIn = (urn: string): CatalogError =>
  invalid(
    `aspect "status", /removed: "${urn}" is built-in and cannot be deleted`,
    "Remove its roles and policies, or suspend it, instead",
  );

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];

const sameMembers = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((value) => others.includes(value));

/**
 * The rule that field paths of a schema are unique and not empty. `member`: the list of the schema's
 * fields, [{fieldPath, …}]. Invalid paths of the current value (`previous`) are accepted.
 */
function wrongPaths(aspect: string, member: string): NonNullable<WriteRule["rejection"]> {
  return (value, { previous }) => {
    const paths = pathsOf(value[member]);
    const distinct = new Set(paths);
    if (distinct.size === paths.length && !distinct.has("")) return undefined;
    const before = pathsOf(previous?.[member]);
    if (distinct.has("") && !before.includes("")) {
      return invalid(
        `aspect "${aspect}" has an empty field path in ${member}`,
        "Give each field the path that names it",
      );
    }
    const known = new Set(repeated(before));
    const added = repeated(paths).filter((path) => !known.has(path));
    if (added.length === 0) return undefined;
    return invalid(
      `aspect "${aspect}" has duplicated field paths in ${member}: ${listed(added)}`,
      "Send each field path once",
    );
  };
}

const pathsOf = (fields: unknown): readonly string[] =>
  objectsIn(fields).map(({ fieldPath }) => String(fieldPath));

/** Each text that occurs again, once. */
function repeated(texts: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) again.add(text);
    seen.add(text);
  }
  return [...again];
}
