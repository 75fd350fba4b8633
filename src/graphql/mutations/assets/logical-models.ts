/**
 * Logical models: datasets of a logical platform, of which other datasets are physical instances. The
 * aspect logicalParent links a dataset to its model, and a column to the column of the model.
 */
import type { Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { type JsonObject, objectsIn } from "../../../lib/json.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { incomingUrns } from "../../queries/related.ts";
import { stampOf } from "../changes.ts";
import { distinct, operationsOf, rejectBlank } from "../declared.ts";
import { columnResource, rejectUnknownColumns } from "../label-resources.ts";
import {
  anyOf,
  patchOf,
  proposalOf,
  type Required,
  rejectMissing,
  urnOf,
  write,
} from "../writing.ts";
import { columnOf, columnType, columnUrn, datasetOf } from "./columns.ts";

interface ColumnInput {
  readonly fieldPath: string;
  readonly type: string;
}

const toModel: Required = [anyOf(["CREATE_LOGICAL_MODELS"])];
const platformCharactersMax = 15;
const childrenMax = 1_000;

const malformed = (message: string, hint: string) =>
  new CatalogError("malformed", message, { hint });

function rejectColumns(columns: readonly ColumnInput[]): void {
  if (columns.length === 0) throw malformed("columns is empty", "Send at least one column");
  const paths = columns.map(({ fieldPath }) => fieldPath);
  const twice = paths.find((path, i) => path.trim() === "" || paths.indexOf(path) < i);
  if (twice === undefined) return;
  throw malformed(`column "${twice}" is empty or occurs twice`, "Send each column once");
}

const fieldsOf = (columns: readonly ColumnInput[]) =>
  columns.map(({ fieldPath, type }) => ({
    ...{ fieldPath, type: columnType(type), nativeDataType: type, nullable: true },
  }));

const nameOf = (platform: string): string => platform.split(":").slice(3).join(":");

/**
 * The proposal that creates the platform; undefined for one that exists. Throws `malformed` for one
 * that is not logical.
 */
async function platformProposal(urn: string, viewer: Viewer): Promise<Proposal | undefined> {
  const info = (await viewer.loader.load(urn)).aspect("dataPlatformInfo");
  const name = nameOf(urn);
  if (info === undefined && !(await hasDatasets(urn, viewer))) {
    if (name.length > platformCharactersMax) {
      const why = `has ${name.length} characters; at most ${platformCharactersMax} are allowed`;
      throw malformed(`the name of platform "${name}" ${why}`, "Send a shorter name");
    }
    const value = { name, type: "OTHERS", datasetNameDelimiter: ".", displayName: name };
    return proposalOf(urn, "dataPlatformInfo", { ...value, logical: true });
  }
  rejectPhysical(urn, info);
  return undefined;
}

/** Throws `malformed` for a platform that holds other datasets than logical models. */
function rejectPhysical(platform: string, info: JsonObject | undefined): void {
  const name = nameOf(platform);
  if (info?.logical === true || name === "logical") return;
  throw malformed(`platform "${name}" is not logical`, "Send another platform, or leave it out");
}

/** Datasets of platforms without an info are physical, too. */
async function hasDatasets(platform: string, { catalog }: Viewer): Promise<boolean> {
  const { total } = await catalog.search(
    {
      entities: ["dataset"],
      filter: { or: [{ and: [{ field: "platform", value: platform }] }] },
      flags: { skipAggregates: true, skipHighlighting: true },
    },
    { start: 0, count: 0 },
  );
  return total > 0;
}

interface ModelInput {
  readonly name: string;
  readonly displayName?: Maybe<string>;
  readonly env?: Maybe<string>;
  readonly platform?: Maybe<string>;
  readonly columns: readonly ColumnInput[];
}

async function createLogicalModel({ input }: InputArgs<ModelInput>, viewer: Viewer) {
  const { name, displayName, env, columns } = input;
  rejectBlank(name);
  rejectColumns(columns);
  const { namespace } = viewer;
  const platformName = input.platform?.trim() || "logical";
  const platform = platformName.startsWith("urn:")
    ? urnOf(platformName, ["dataPlatform"], viewer)
    : `urn:${namespace}:dataPlatform:${platformName}`;
  const created = await platformProposal(platform, viewer);
  const urn = `urn:${namespace}:dataset:(${platform},${name.trim()},${env ?? "PROD"})`;
  const properties = { name: displayName?.trim() || name.trim(), customProperties: {} };
  const stamp = stampOf(viewer);
  const proposals = [
    proposalOf(urn, "datasetProperties", properties, "CREATE_ENTITY"),
    proposalOf(urn, "schemaMetadata", {
      ...{ schemaName: name.trim(), platform, version: 0, hash: "" },
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      ...{ fields: fieldsOf(columns), created: stamp, lastModified: stamp },
    }),
    ...(created === undefined ? [] : [created]),
  ];
  await write(proposals, viewer, toModel);
  return urn;
}

/** The physical instances of a model, or of a column of it. */
const childrenOf = (urn: string, viewer: Viewer): Promise<readonly string[]> =>
  incomingUrns({ urn, relationship: "PhysicalInstanceOf", count: childrenMax }, viewer);

const unlinked = (urn: string): Proposal =>
  patchOf(urn, "logicalParent", operationsOf({ parent: null }));

function linked(urn: string, parent: string, viewer: Viewer): Proposal {
  const stamp = stampOf(viewer);
  const edge = { sourceUrn: urn, destinationUrn: parent, created: stamp, lastModified: stamp };
  return proposalOf(urn, "logicalParent", { parent: edge });
}

const parentOf = async (urn: string, { loader }: Viewer): Promise<unknown> =>
  memberAt((await loader.load(urn)).aspect("logicalParent"), ["parent", "destinationUrn"]);

/** The columns of a dataset that are linked, with their parents. */
async function linkedColumns(dataset: string, viewer: Viewer) {
  const schema = (await viewer.loader.load(dataset)).aspect("schemaMetadata");
  const paths = objectsIn(schema?.fields).map(({ fieldPath }) => String(fieldPath));
  const columns = paths.map((path) => columnUrn(dataset, path, viewer));
  const parents = await Promise.all(columns.map((column) => parentOf(column, viewer)));
  return columns.flatMap((urn, i) => {
    const parent = parents[i];
    return typeof parent === "string" ? [{ urn, parent }] : [];
  });
}

interface SchemaInput {
  readonly urn: string;
  readonly columns: readonly ColumnInput[];
}

/** Columns of instances lose their link to a column that is removed or gets another type. */
async function updateLogicalModelSchema(
  { input }: InputArgs<SchemaInput>,
  viewer: Viewer,
): Promise<true> {
  const urn = urnOf(input.urn, ["dataset"], viewer);
  rejectColumns(input.columns);
  await rejectMissing([urn], viewer);
  const model = await viewer.loader.load(urn);
  const schema = model.aspect("schemaMetadata");
  if (schema === undefined) {
    throw malformed(`"${urn}" has no schema`, "Send a urn that createLogicalModel returned");
  }
  // The privilege for logical models allows no change of other datasets.
  const platform = String(model.key().platform);
  rejectPhysical(platform, (await viewer.loader.load(platform)).aspect("dataPlatformInfo"));
  const fields = fieldsOf(input.columns);
  const types = new Map(fields.map(({ fieldPath, type }) => [fieldPath, JSON.stringify(type)]));
  const ended = new Set(
    objectsIn(schema.fields)
      .filter(({ fieldPath, type }) => types.get(String(fieldPath)) !== JSON.stringify(type))
      .map(({ fieldPath }) => columnUrn(urn, String(fieldPath), viewer)),
  );
  const stored = new Map(objectsIn(schema.fields).map((one) => [String(one.fieldPath), one]));
  const merged = fields.map((one) => ({ ...stored.get(one.fieldPath), ...one }));
  const changed = operationsOf({ fields: merged, lastModified: stampOf(viewer) });
  const proposals = [patchOf(urn, "schemaMetadata", changed)];
  for (const child of await childrenOf(urn, viewer)) {
    if (entityTypeOf(child) !== "dataset") continue;
    const columns = (await linkedColumns(child, viewer)).filter(
      ({ parent }) => datasetOf(parent) === urn,
    );
    const gone = columns.filter(({ parent }) => ended.has(parent));
    appendAll(
      proposals,
      gone.map((one) => unlinked(one.urn)),
    );
    if (gone.length > 0 && gone.length === columns.length) proposals.push(unlinked(child));
  }
  return write(proposals, viewer, toModel);
}

/** The privilege that links require: for a column, that of its dataset. */
const toLink = (urns: readonly string[]): Required => [
  anyOf(["EDIT_ENTITY"], distinct(urns.map(datasetOf))),
];

/** Throws `not_found` for a missing dataset, `malformed` for a missing column. */
async function rejectMissingEnds(urns: readonly string[], viewer: Viewer): Promise<void> {
  await rejectMissing(distinct(urns.map(datasetOf)), viewer);
  const columns = urns
    .filter((urn) => entityTypeOf(urn) === "schemaField")
    .map((urn) => columnOf(urn, viewer));
  await rejectUnknownColumns(
    columns.map(({ dataset, fieldPath }) => columnResource(dataset, fieldPath)),
    viewer,
  );
}

async function setLogicalParent(
  { input }: InputArgs<{ readonly resourceUrn: string; readonly parentUrn?: Maybe<string> }>,
  viewer: Viewer,
): Promise<true> {
  const urn = urnOf(input.resourceUrn, ["dataset", "schemaField"], viewer);
  if (!input.parentUrn) {
    await rejectMissingEnds([urn], viewer);
    return write([unlinked(urn)], viewer, toLink([urn]));
  }
  const parent = urnOf(input.parentUrn, [entityTypeOf(urn)], viewer);
  if (parent === urn) throw malformed(`"${urn}" cannot be its own parent`, "Send another parent");
  await rejectMissingEnds([urn, parent], viewer);
  return write([linked(urn, parent, viewer)], viewer, toLink([urn, parent]));
}

interface LinkInput {
  readonly logicalParentUrn: string;
  readonly childUrn: string;
  readonly columnMappings?: Maybe<
    readonly { readonly parentFieldPath: string; readonly childFieldPath: string }[]
  >;
}

async function linkPhysicalChild({ input }: InputArgs<LinkInput>, viewer: Viewer): Promise<true> {
  const parent = urnOf(input.logicalParentUrn, ["dataset"], viewer);
  const child = urnOf(input.childUrn, ["dataset"], viewer);
  if (parent === child)
    throw malformed(`"${child}" cannot be its own parent`, "Send another parent");
  const pairs = (input.columnMappings ?? []).map(({ parentFieldPath, childFieldPath }) => ({
    own: columnUrn(child, childFieldPath, viewer),
    above: columnUrn(parent, parentFieldPath, viewer),
  }));
  const ends = pairs.flatMap(({ own, above }) => [own, above]);
  await rejectMissingEnds([child, parent, ...ends], viewer);
  const proposals = pairs.map(({ own, above }) => linked(own, above, viewer));
  return write([linked(child, parent, viewer), ...proposals], viewer, toLink([child, parent]));
}

async function unlinkPhysicalChild(
  { input }: InputArgs<{ readonly childUrn: string }>,
  viewer: Viewer,
): Promise<true> {
  const child = urnOf(input.childUrn, ["dataset"], viewer);
  await rejectMissing([child], viewer);
  const columns = await linkedColumns(child, viewer);
  const proposals = [unlinked(child), ...columns.map(({ urn }) => unlinked(urn))];
  return write(proposals, viewer, toLink([child]));
}

export const logicalModelMutations = {
  createLogicalModel,
  updateLogicalModelSchema,
  setLogicalParent,
  linkPhysicalChild,
  unlinkPhysicalChild,
};
