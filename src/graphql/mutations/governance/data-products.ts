/**
 * Data products and applications, and their assets. A product lists its assets; an asset lists its
 * applications. Who manages the data products of a domain may write those of the domain.
 */
import { stringsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { incomingUrns } from "../../queries/related.ts";
import { given, stampOf } from "../changes.ts";
import { creating, deleting, distinct, type Mutation, updating } from "../declared.ts";
import {
  anyOf,
  patchOf,
  proposalOf,
  type Required,
  rejectMissing,
  urnOf,
  write,
} from "../writing.ts";

interface Properties {
  readonly name: string;
  readonly description?: Maybe<string>;
}

interface NewProduct {
  readonly id?: Maybe<string>;
  readonly domainUrn: string;
  readonly properties: Properties;
}

interface NewApplication {
  readonly id?: Maybe<string>;
  readonly domainUrn?: Maybe<string>;
  readonly properties: Properties;
  readonly shouldAddCreatorAsOwner?: Maybe<boolean>;
}

interface PropertiesUpdate {
  readonly urn: string;
  readonly input: { readonly name?: Maybe<string>; readonly description?: Maybe<string> };
}

const changed = ({ input: { name, description } }: PropertiesUpdate) => ({
  name: name?.trim() ? name : undefined,
  description: description ?? undefined,
});

const toManage = (domain: string) => anyOf(["EDIT_ENTITY", "MANAGE_DATA_PRODUCTS"], [domain]);

/** Domains of the product, or the product itself. */
async function toEditProduct(urn: string, { loader }: Viewer): Promise<Required> {
  const domains = stringsIn((await loader.load(urn)).aspect("domains")?.domains);
  return [...domains.map(toManage), anyOf(["EDIT_ENTITY"], [urn])];
}

const toEditAssets = (urns: readonly string[]): Required => [
  anyOf(["EDIT_ENTITY", "EDIT_ENTITY_DATA_PRODUCTS"], urns),
];

interface Assets {
  readonly resourceUrns: readonly string[];
}

/** The patch that adds assets to a product, or removes them. */
function assetsPatch(
  op: "add" | "remove",
  product: string,
  assets: readonly string[],
  viewer: Viewer,
) {
  const stamp = stampOf(viewer);
  return patchOf(
    product,
    "dataProductProperties",
    assets.map((urn) => ({
      op,
      path: ["assets", urn],
      value: { destinationUrn: urn, created: stamp, lastModified: stamp },
    })),
  );
}

const productsMax = 1_000;

/** The products that have the asset. */
const productsOf = (asset: string, viewer: Viewer): Promise<readonly string[]> =>
  incomingUrns({ urn: asset, relationship: "DataProductContains", count: productsMax }, viewer);

async function setProduct(
  { dataProductUrn, resourceUrns }: Assets & { dataProductUrn?: Maybe<string> },
  viewer: Viewer,
): Promise<true> {
  const assets = distinct(resourceUrns);
  await rejectMissing(assets, viewer);
  if (dataProductUrn) {
    const product = urnOf(dataProductUrn, ["dataProduct"], viewer);
    await rejectMissing([product], viewer);
    const required = await toEditProduct(product, viewer);
    return write([assetsPatch("add", product, assets, viewer)], viewer, required);
  }
  const proposals = [];
  for (const asset of assets) {
    for (const product of await productsOf(asset, viewer)) {
      proposals.push(assetsPatch("remove", product, [asset], viewer));
    }
  }
  return write(proposals, viewer, toEditAssets(assets));
}

const editingAssets =
  (op: "add" | "remove"): Mutation<InputArgs<Assets & { dataProductUrns: readonly string[] }>> =>
  async ({ input }, viewer) => {
    const products = input.dataProductUrns.map((urn) => urnOf(urn, ["dataProduct"], viewer));
    const assets = distinct(input.resourceUrns);
    await rejectMissing(products, viewer);
    await rejectMissing(assets, viewer);
    const proposals = distinct(products).map((one) => assetsPatch(op, one, assets, viewer));
    return write(assets.length === 0 ? [] : proposals, viewer, toEditAssets(assets));
  };

async function setApplication(
  { applicationUrn, resourceUrns }: Assets & { applicationUrn?: Maybe<string> },
  op: "add" | "remove",
  viewer: Viewer,
): Promise<true> {
  const urn = applicationUrn ? urnOf(applicationUrn, ["application"], viewer) : undefined;
  const assets = distinct(resourceUrns);
  await rejectMissing(assets, viewer);
  if (urn === undefined) {
    const none = { applications: [] };
    return write(
      assets.map((asset) => proposalOf(asset, "applications", none)),
      viewer,
    );
  }
  if (op === "add") await rejectMissing([urn], viewer);
  const operation = { op, path: ["applications", urn], value: urn };
  return write(
    assets.map((asset) => patchOf(asset, "applications", [operation])),
    viewer,
  );
}

export const productMutations = {
  createDataProduct: creating<NewProduct>({
    entityType: "dataProduct",
    id: ({ id }) => id,
    names: ({ properties }) => [properties.name],
    dependencies: ({ domainUrn }) => [domainUrn],
    aspects: ({ properties, domainUrn }, viewer) => ({
      dataProductProperties: given({ ...properties }),
      domains: { domains: [urnOf(domainUrn, ["domain"], viewer)] },
    }),
    required: ({ domainUrn }) => [toManage(domainUrn)],
    answer: "entity",
  }),
  updateDataProduct: updating<PropertiesUpdate>({
    urn: ({ urn }) => urn,
    entityTypes: ["dataProduct"],
    aspect: "dataProductProperties",
    members: changed,
    required: (_, urn, viewer) => toEditProduct(urn, viewer),
    answer: "entity",
  }),
  deleteDataProduct: deleting(["dataProduct"], {
    required: async (urn, viewer) => [
      ...((await toEditProduct(urn, viewer)) as Exclude<Required, "none">),
      anyOf(["DELETE_ENTITY"], [urn]),
    ],
  }),
  batchSetDataProduct: (
    { input }: InputArgs<Assets & { dataProductUrn?: Maybe<string> }>,
    viewer: Viewer,
  ) => setProduct(input, viewer),
  batchAddToDataProducts: editingAssets("add"),
  batchRemoveFromDataProducts: editingAssets("remove"),

  createApplication: creating<NewApplication>({
    entityType: "application",
    id: ({ id }) => id,
    names: ({ properties }) => [properties.name],
    dependencies: ({ domainUrn }) => [domainUrn],
    aspects: ({ properties, domainUrn }, viewer) => ({
      applicationProperties: given({ ...properties }),
      domains: domainUrn ? { domains: [urnOf(domainUrn, ["domain"], viewer)] } : undefined,
    }),
    owned: ({ shouldAddCreatorAsOwner }) => shouldAddCreatorAsOwner !== false,
    required: (_, urn) => [anyOf(["EDIT_ENTITY", "CREATE_ENTITY"], [urn])],
    answer: "entity",
  }),
  updateApplication: updating<PropertiesUpdate>({
    urn: ({ urn }) => urn,
    entityTypes: ["application"],
    aspect: "applicationProperties",
    members: changed,
    answer: "entity",
  }),
  deleteApplication: deleting(["application"], {
    required: (urn) => [anyOf(["EDIT_ENTITY", "DELETE_ENTITY"], [urn])],
  }),
  batchSetApplication: (
    { input }: InputArgs<Assets & { applicationUrn?: Maybe<string> }>,
    viewer: Viewer,
  ) => setApplication(input, "add", viewer),
  batchUnsetApplication: (
    { input }: InputArgs<Assets & { applicationUrn: string }>,
    viewer: Viewer,
  ) => setApplication(input, "remove", viewer),
};
