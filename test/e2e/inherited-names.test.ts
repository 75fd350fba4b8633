/** Members of aspects that have the names of members of `Object.prototype`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
});
afterAll(() => service[Symbol.asyncDispose]());

test.each(["constructor", "hasOwnProperty", "toString", "valueOf"])(
  "an equal value with a custom property %s adds no version, and a patch of it is written",
  async (name) => {
    const { client } = service;
    const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
    const version = async () => {
      const { body } = await client.call("GET", `/entitiesV2/${encoded(urn)}`);
      const { systemMetadata, value } = body.aspects.datasetProperties;
      return [systemMetadata.version, value.customProperties];
    };
    const write = (changeType: string, contentType: string, value: unknown) =>
      client.call("POST", "/aspects?action=ingestProposal", {
        proposal: {
          entityType: "dataset",
          entityUrn: urn,
          changeType,
          aspectName: "datasetProperties",
          aspect: { contentType, value: JSON.stringify(value) },
        },
      });
    const upsert = (customProperties: object) =>
      write("UPSERT", "application/json", { customProperties });

    expect(await upsert({ [name]: "a", other: "b" })).toMatchObject({ status: 200 });
    expect(await upsert({ other: "b", [name]: "a" })).toMatchObject({ status: 200 });
    expect(await version()).toEqual(["1", { [name]: "a", other: "b" }]);

    const replace = { op: "add", path: `/customProperties/${name}`, value: "c" };
    const patched = await write("PATCH", "application/json-patch+json", [replace]);
    expect(patched).toMatchObject({ status: 200 });
    expect(await version()).toEqual(["2", { [name]: "c", other: "b" }]);
  },
);
