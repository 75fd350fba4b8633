/**
 * The API of the interface specification, sentence by sentence: requests and the responses that
 * clients expect. Section numbers are those of the specification.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { snapshotSamples } from "./snapshot-samples.ts";

const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD)";
const ANN = "urn:li:corpuser:ann";
const stamp = { time: 1_629_331_200_000, actor: ANN };

const aspects = {
  status: { removed: false },
  ownership: { owners: [{ owner: ANN, type: "DATAOWNER" }], lastModified: stamp },
  institutionalMemory: {
    elements: [
      {
        url: "https://wiki.example.org/tides",
        description: "How tides are measured",
        createStamp: stamp,
      },
    ],
  },
  schemaMetadata: {
    schemaName: "tides",
    platform: "urn:li:dataPlatform:hive",
    version: 0,
    created: stamp,
    lastModified: stamp,
    hash: "",
    platformSchema: { "com.linkedin.schema.KafkaSchema": { documentSchema: "{}" } },
    fields: [
      ["station", "StringType"],
      ["height_cm", "NumberType"],
      ["day", "DateType"],
      ["reading", "RecordType"],
    ].map(([fieldPath, type]) => ({
      fieldPath,
      description: `the ${fieldPath}`,
      nativeDataType: "text",
      nullable: false,
      isPartOfKey: false,
      recursive: false,
      type: { type: { [`com.linkedin.schema.${type}`]: {} } },
    })),
  },
  editableSchemaMetadata: {
    created: stamp,
    lastModified: stamp,
    editableSchemaFieldInfo: [
      { fieldPath: "station", globalTags: { tags: [{ tag: "urn:li:tag:Place" }] } },
    ],
  },
  globalTags: { tags: [{ tag: "urn:li:tag:Tides" }] },
  browsePaths: { paths: ["/prod/hive/harbour"] },
  upstreamLineage: {
    upstreams: [
      {
        auditStamp: stamp,
        type: "TRANSFORMED",
        dataset: "urn:li:dataset:(urn:li:dataPlatform:kafka,harbour.raw,PROD)",
      },
    ],
  },
  dataPlatformInstance: { platform: "urn:li:dataPlatform:hive" },
};

const propose = (over: object) => ({
  proposal: { entityType: "dataset", entityUrn: DATASET, changeType: "UPSERT", ...over },
});
const generic = (value: unknown) => ({
  value: JSON.stringify(value),
  contentType: "application/json",
});

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const V2 = { "X-Framework-Protocol-Version": "2.0.0" };
const post = (path: string, body: unknown, headers: Record<string, string> = V2) =>
  service.client.call("POST", path, body, headers);
const get = (path: string, headers: Record<string, string> = V2) =>
  service.client.call("GET", path, undefined, headers);

describe("4.3 aspect ingestion", () => {
  test.each(Object.entries(aspects))("%s is written and read back", async (aspectName, value) => {
    const reply = await post(
      "/aspects?action=ingestProposal",
      propose({ aspectName, aspect: generic(value) }),
    );
    expect(reply).toMatchObject({ status: 200, body: { value: "success" } });
    expect(reply.position).toBeGreaterThan(0);
    const read = await get(`/entitiesV2/${encoded(DATASET)}?aspects=List(${aspectName})`);
    expect(read.body).toMatchObject({
      urn: DATASET,
      entityName: "dataset",
      aspects: {
        [aspectName]: {
          name: aspectName,
          version: 0,
          value,
          created: { actor: expect.stringMatching(/^urn:li:corpuser:/), time: expect.any(Number) },
        },
      },
    });
  });

  test.each(["APPLICATION/JSON", "Application/Json; charset=utf-8"])(
    "%s is accepted: media types ignore letter case",
    async (contentType) => {
      const aspect = { ...generic(aspects.status), contentType };
      const reply = await post(
        "/aspects?action=ingestProposal",
        propose({ aspectName: "status", aspect }),
      );
      expect(reply).toMatchObject({ status: 200, body: { value: "success" } });
    },
  );

  test("DELETE removes one aspect and nothing else", async () => {
    const gone = await post(
      "/aspects?action=ingestProposal",
      propose({ changeType: "DELETE", aspectName: "globalTags" }),
    );
    expect(gone).toMatchObject({ status: 200, body: { value: "success" } });
    const read = await get(`/entitiesV2/${encoded(DATASET)}`);
    expect(read.body.aspects).not.toHaveProperty("globalTags");
    expect(read.body.aspects).toHaveProperty("ownership");
    expect((await get(`/aspects/${encoded(DATASET)}?aspect=globalTags&version=0`)).status).toBe(
      404,
    );
  });

  test("versions continue after a delete", async () => {
    await post(
      "/aspects?action=ingestProposal",
      propose({ aspectName: "globalTags", aspect: generic({ tags: [] }) }),
    );
    const read = await get(`/entitiesV2/${encoded(DATASET)}?aspects=List(globalTags)`);
    expect(read.body.aspects.globalTags.systemMetadata.version).toBe("2");
  });
});

describe("4.5 reads", () => {
  test("an aspect at a version is returned under the name of its record", async () => {
    for (const removed of [true, false]) {
      await post(
        "/aspects?action=ingestProposal",
        propose({ aspectName: "status", aspect: generic({ removed }) }),
      );
    }
    const at = (version: number) =>
      get(`/aspects/${encoded(DATASET)}?aspect=status&version=${version}`);
    const status = (removed: boolean) => ({ "com.linkedin.common.Status": { removed } });
    expect((await at(0)).body).toEqual({ version: 0, aspect: status(false) });
    expect((await at(1)).body).toEqual({ version: 1, aspect: status(false) });
    expect((await at(2)).body).toEqual({ version: 2, aspect: status(true) });
    expect((await at(3)).body).toEqual({ version: 3, aspect: status(false) });
    expect((await at(-1)).body).toEqual({ version: 2, aspect: status(true) });
    expect((await at(-2)).body).toEqual({ version: 1, aspect: status(false) });
    expect((await at(4)).status).toBe(404);
    expect((await at(-3)).status).toBe(404);
  });

  test("timeseries events of a range are returned latest first", async () => {
    const hour = 3_600_000;
    for (const n of [0, 1, 2, 3]) {
      const value = {
        timestampMillis: stamp.time + n * hour,
        uniqueUserCount: n,
        totalSqlQueries: n,
        fieldCounts: [{ fieldPath: "station", count: n }],
      };
      await post(
        "/aspects?action=ingestProposal",
        propose({ aspectName: "datasetUsageStatistics", aspect: generic(value) }),
      );
    }
    const { body } = await post("/aspects?action=getTimeseriesAspectValues", {
      urn: DATASET,
      entity: "dataset",
      aspect: "datasetUsageStatistics",
      startTimeMillis: stamp.time + hour,
      endTimeMillis: stamp.time + 2 * hour,
    });
    expect(body.value).toMatchObject({
      limit: 10000,
      aspectName: "datasetUsageStatistics",
      entityName: "dataset",
      startTimeMillis: stamp.time + hour,
      endTimeMillis: stamp.time + 2 * hour,
    });
    const values = body.value.values.map(
      (v: { aspect: { value: string; contentType: string } }) => {
        expect(v.aspect.contentType).toBe("application/json");
        return JSON.parse(v.aspect.value).uniqueUserCount;
      },
    );
    expect(values).toEqual([2, 1]);
  });

  test("an event that is written twice is one event with the later value", async () => {
    const profile = (rowCount: number) => ({
      timestampMillis: stamp.time,
      rowCount,
      columnCount: 2,
    });
    for (const rowCount of [1, 2]) {
      await post(
        "/aspects?action=ingestProposal",
        propose({ aspectName: "datasetProfile", aspect: generic(profile(rowCount)) }),
      );
    }
    const { body } = await post("/aspects?action=getTimeseriesAspectValues", {
      urn: DATASET,
      entity: "dataset",
      aspect: "datasetProfile",
    });
    expect(
      body.value.values.map(
        (v: { aspect: { value: string } }) => JSON.parse(v.aspect.value).rowCount,
      ),
    ).toEqual([2]);
  });

  test("without alwaysIncludeKeyAspect, the key aspect is returned only where it is stored and requested", async () => {
    const path = `/entitiesV2/${encoded(DATASET)}`;
    const names = async (query: string) =>
      Object.keys((await get(`${path}?alwaysIncludeKeyAspect=false${query}`)).body.aspects);
    expect(await names("&aspects=List(ownership)")).toEqual(["ownership"]);
    expect(await names("&aspects=List(datasetKey,ownership)")).toEqual(["datasetKey", "ownership"]);
    expect(await names("")).toContain("datasetKey");
    const unknown = encoded("urn:li:tag:nobody-told-of-it");
    for (const one of [`/entitiesV2/${unknown}?`, `/entitiesV2?ids=List(${unknown})&`]) {
      const { body } = await get(`${one}alwaysIncludeKeyAspect=false`);
      const entity = body.results?.["urn:li:tag:nobody-told-of-it"] ?? body;
      expect(entity).toEqual({
        urn: "urn:li:tag:nobody-told-of-it",
        entityName: "tag",
        aspects: {},
      });
      // A read without the key does not change the next read with it.
      expect(Object.keys((await get(`/entitiesV2/${unknown}`)).body.aspects)).toEqual(["tagKey"]);
    }
  });

  test("an unknown urn is answered with its key aspect alone", async () => {
    const unknown = "urn:li:dataset:(urn:li:dataPlatform:hive,no.such,PROD)";
    const { status, body } = await get(`/entitiesV2/${encoded(unknown)}`);
    expect(status).toBe(200);
    expect(Object.keys(body.aspects)).toEqual(["datasetKey"]);
    expect(body.aspects.datasetKey.value).toEqual({
      platform: "urn:li:dataPlatform:hive",
      name: "no.such",
      origin: "PROD",
    });
    const exists = await post("/entities?action=exists", { urn: unknown });
    expect(exists.body).toEqual({ value: false });
  });
});

describe("4.4 legacy entity ingestion and reads", () => {
  test.each(snapshotSamples)("$record is written and read back", async (sample) => {
    const { record, urn, aspects: sent } = sample;
    for (const prefix of ["com.linkedin", "com.linkedin.pegasus2avro", "org.example"]) {
      const named = (name: string) => name.replace("com.linkedin", prefix);
      const value = {
        [named(record)]: {
          urn,
          aspects: Object.entries(sent).map(([name, fields]) => ({ [named(name)]: fields })),
        },
      };
      const reply = await post("/entities?action=ingest", { entity: { value } });
      expect(reply).toMatchObject({ status: 200, body: "" });
    }
    const { status, body } = await get(`/entities/${encoded(urn)}`);
    expect(status).toBe(200);
    const snapshot = body.value[record];
    expect(snapshot.urn).toBe(urn);
    expect(Object.keys(snapshot.aspects[0])[0]).toMatch(/\.key\.\w+Key$/);
    for (const [name, fields] of Object.entries(sent)) {
      const found = snapshot.aspects.find((aspect: object) => name in aspect);
      expect(found?.[name]).toMatchObject(fields as object);
    }
  });

  test("a glossary term shows ownership and info beside the array of aspects", async () => {
    const term = snapshotSamples.find(({ record }) => record.endsWith("GlossaryTermSnapshot"));
    const { body } = await get(`/entities/${encoded(term?.urn ?? "")}`);
    const snapshot = body.value["com.linkedin.metadata.snapshot.GlossaryTermSnapshot"];
    expect(snapshot.ownership.owners[0].owner).toBe(ANN);
    expect(snapshot.glossaryTermInfo.termSource).toBe("EXTERNAL");
  });

  test("a snapshot without aspects creates the entity", async () => {
    const urn = "urn:li:tag:bare";
    const value = { "com.linkedin.metadata.snapshot.TagSnapshot": { urn, aspects: [] } };
    expect((await post("/entities?action=ingest", { entity: { value } })).status).toBe(200);
    expect((await post("/entities?action=exists", { urn })).body).toEqual({ value: true });
    const { body } = await get(`/entitiesV2/${encoded(urn)}`);
    expect(body.aspects).toMatchObject({ tagKey: { value: { name: "bare" } } });
  });

  test("several aspects of one entity are written atomically", async () => {
    const urn = "urn:li:tag:together";
    const bad = {
      "com.linkedin.metadata.snapshot.TagSnapshot": {
        urn,
        aspects: [
          { "com.linkedin.tag.TagProperties": { name: "together" } },
          { "com.linkedin.common.Ownership": { owners: [{ owner: ANN, type: "NOBODY" }] } },
        ],
      },
    };
    const reply = await post("/entities?action=ingest", { entity: { value: bad } });
    expect(reply).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("NOBODY") },
    });
    expect((await post("/entities?action=exists", { urn })).body).toEqual({ value: false });
  });
});

describe("3.1 visibility", () => {
  const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,harbour.old,PROD)";
  const status = (removed: boolean) => ({
    entity: {
      value: {
        "com.linkedin.metadata.snapshot.DatasetSnapshot": {
          urn,
          aspects: [{ "com.linkedin.common.Status": { removed } }],
        },
      },
    },
  });

  test("a soft-deleted entity stays readable and can be restored", async () => {
    await post("/entities?action=ingest", status(true));
    expect((await get(`/entitiesV2/${encoded(urn)}`)).body.aspects.status.value).toEqual({
      removed: true,
    });
    const exists = (includeSoftDelete: boolean) =>
      post("/entities?action=exists", { urn, includeSoftDelete });
    expect((await exists(true)).body).toEqual({ value: true });
    expect((await exists(false)).body).toEqual({ value: false });
    await post("/entities?action=ingest", status(false));
    expect((await exists(false)).body).toEqual({ value: true });
  });
});

describe("addresses and urns", () => {
  const odd = "urn:li:dataset:(urn:li:dataPlatform:hive,a/b c;d [x] (y)%2C#é,PROD)";

  test("encoded and raw urns read the same entity, under every prefix", async () => {
    const reply = await service.client.upsert(odd, "status", { removed: false });
    expect(reply.status).toBe(200);
    for (const prefix of ["", "/gms", "/api/gms"]) {
      const { body } = await get(`${prefix}/entitiesV2/${encoded(odd)}?aspects=List(status)`);
      expect(body.urn).toBe(odd);
      expect(body.aspects.status.value).toEqual({ removed: false });
    }
  });

  test("every urn namespace is accepted, and the configured one is returned", async () => {
    await service.client.upsert("urn:acme:corpuser:zoe", "corpUserInfo", { active: true });
    const { body } = await get(`/entitiesV2/${encoded("urn:other:corpuser:zoe")}`);
    expect(body.urn).toBe("urn:li:corpuser:zoe");
    expect(body.aspects.corpUserInfo.value).toMatchObject({ active: true });
  });
});

test("/config names a release of the command line that clients can install", async () => {
  const { body } = await service.client.get("/config");
  expect(body.managedIngestion.defaultCliVersion).toMatch(/^\d+\.\d+\.\d+(\.\d+)?$/);
});
