/** A dataset with a value in most fields of its profile, and a sibling like it. */
import { clicks, orders, stamp, writeSample } from "../graphql/queries/sample.ts";
import type { Client } from "../support/client.ts";

export const profiled = orders;

const columns = 50;
const people = ["ada", "bob", "eve"].map((name) => `urn:li:corpuser:${name}`);
const tags = { tags: ["pii", "gold", "daily"].map((name) => ({ tag: `urn:li:tag:${name}` })) };
const terms = {
  terms: ["revenue", "order"].map((name) => ({ urn: `urn:li:glossaryTerm:${name}` })),
  auditStamp: stamp,
};

const column = (n: number) => ({
  ...{ fieldPath: `column_${n}`, nativeDataType: "varchar(100)", nullable: true, recursive: false },
  ...{ description: `Column ${n} of the orders`, isPartOfKey: n === 0 },
  type: { type: { "com.linkedin.schema.StringType": {} } },
  ...(n % 5 === 0 && { globalTags: tags, glossaryTerms: terms }),
});

const aspectsOf = (urn: string): Readonly<Record<string, object>> => ({
  datasetProperties: {
    ...{ name: urn === orders ? "orders" : "clicks", description: "What customers order" },
    customProperties: { team: "shop", retention: "P2Y", tier: "1" },
    ...{ created: stamp, lastModified: stamp },
  },
  editableDatasetProperties: {
    description: "Orders of the shop",
    created: stamp,
    lastModified: stamp,
  },
  schemaMetadata: {
    ...{ schemaName: "orders", platform: urn.slice(16, urn.indexOf(",")), version: 0, hash: "" },
    platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
    fields: Array.from({ length: columns }, (_, n) => column(n)),
  },
  editableSchemaMetadata: {
    editableSchemaFieldInfo: Array.from({ length: 5 }, (_, n) => ({
      ...{ fieldPath: `column_${n}`, description: `Column ${n}`, globalTags: tags },
    })),
    ...{ created: stamp, lastModified: stamp },
  },
  ownership: {
    owners: people.map((owner) => ({ owner, type: "TECHNICAL_OWNER" })),
    lastModified: stamp,
  },
  globalTags: tags,
  glossaryTerms: terms,
  institutionalMemory: {
    elements: people.map((actor) => ({
      ...{ url: "https://wiki.example/orders", description: "Handbook" },
      createStamp: { ...stamp, actor },
    })),
  },
  browsePathsV2: { path: [{ id: "shop", urn: "urn:li:container:shop" }] },
  subTypes: { typeNames: ["Table"] },
  status: { removed: false },
});

export async function writeProfiles(client: Client): Promise<void> {
  await writeSample(client);
  const written = [
    ...[orders, clicks].flatMap((urn) =>
      Object.entries(aspectsOf(urn)).map(([aspect, value]) => [urn, aspect, value] as const),
    ),
    ...people.map((urn) => [urn, "corpUserInfo", { active: true, displayName: urn }] as const),
    ...tags.tags.map(({ tag }) => [tag, "tagProperties", { name: tag }] as const),
  ];
  for (const [urn, aspect, value] of written) {
    const reply = await client.upsert(urn, aspect, value);
    if (reply.status !== 200) throw new Error(`${urn} ${aspect}: ${JSON.stringify(reply.body)}`);
  }
}
