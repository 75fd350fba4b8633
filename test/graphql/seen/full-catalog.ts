/** Writes an entity of each type, whose aspects have every member and name each other. */
import { ownValue } from "../../../src/lib/own-value.ts";
import type { Aspect, Model } from "../../../src/model/model.ts";
import { type Client, proposal } from "../../support/client.ts";
import { fullRecord, urnOf } from "../full-values.ts";

type Members = Readonly<Record<string, unknown>>;

const columnUrn = "urn:li:datasetField:(urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD),a)";
const link = "https://example.com/page";

/** Values of members at any depth that have rules beyond their type: by aspect, or for every aspect. */
const byAspect: Readonly<Record<string, Members>> = {
  any: {
    lifecycleStage: "urn:li:lifecycleStageType:a",
    platform: "urn:li:dataPlatform:hive",
    ...{ url: link, pictureLink: link, externalUrl: link },
  },
  status: { removed: false },
  lifecycleStageTypeInfo: { entityTypes: null, hideInSearch: false },
  dataPlatformInstance: { instance: "urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,a)" },
  datasetUsageStatistics: { eventGranularity: { unit: "DAY", multiple: 1 } },
  dashboardUsageStatistics: { eventGranularity: { unit: "DAY", multiple: 1 } },
  structuredProperties: {
    propertyUrn: "urn:li:structuredProperty:a",
    values: [{ string: "text" }],
  },
  datasetUpstreamLineage: { sourceFields: [{ string: columnUrn }], destinationField: columnUrn },
  propertyDefinition: {
    version: "20260101000000",
    valueType: "urn:li:dataType:datahub.string",
    allowedValues: [{ value: { string: "text" }, description: "Text" }],
    typeQualifier: { allowedTypes: ["urn:li:entityType:datahub.dataset"] },
  },
  structuredPropertySettings: { isHidden: false },
  dataHubIngestionSourceInfo: { timezone: "UTC" },
  dataHubPolicyInfo: { field: "TYPE", type: "METADATA", state: "ACTIVE" },
  globalSettingsInfo: {
    defaultTemplate: "urn:li:dataHubPageTemplate:a",
    defaultView: "urn:li:dataHubView:a",
  },
  dataHubExecutionRequestInput: { ingestionSource: "urn:li:dataHubIngestionSource:a" },
  dataHubExecutionRequestResult: { status: "SUCCESS" },
  forms: { urn: "urn:li:form:a", form: "urn:li:form:a" },
  formInfo: { urn: "urn:li:structuredProperty:a" },
};

/** Entity types that others refer to in ways that a write checks. */
const first = [
  "dataPlatform",
  "lifecycleStageType",
  "entityType",
  "dataType",
  "structuredProperty",
  "versionSet",
];

/** Aspects that only a part of the service writes. */
const closed = ["corpUserCredentials", "inviteToken"];

/** Entity types of which a client reads a certain one, or whose value only the service encrypts. */
const ids: Readonly<Record<string, string>> = { dataHubConnection: "plain", globalSettings: "0" };

function writtenUrn(model: Model, entityType: string): string {
  const id = ownValue(ids, entityType);
  return id === undefined ? urnOf(model, entityType) : `urn:li:${entityType}:${id}`;
}

function completeValue(model: Model, { name, record, timeseries }: Aspect, entityType: string) {
  const own = name === "versionProperties" && { versionSet: `urn:li:versionSet:(a,${entityType})` };
  const members: Members = { ...byAspect.any, ...ownValue(byAspect, name), ...own };
  const value: object = JSON.parse(JSON.stringify(fullRecord(model, record, 0)), (key, one) =>
    Object.hasOwn(members, key) ? members[key] : one,
  );
  return { ...value, ...(timeseries && { timestampMillis: Date.now() }) };
}

/** Returns the log position after the writes. */
export async function writeFullCatalog(client: Client, model: Model): Promise<number> {
  let position = 0;
  const types = [...model.entities.keys()];
  for (const entityType of [...first, ...types.filter((type) => !first.includes(type))]) {
    const { aspects = [], keyAspect } = model.entities.get(entityType) ?? {};
    const urn = writtenUrn(model, entityType);
    const systemMetadata = { runId: "full", lastObserved: 1 };
    const proposals = aspects
      .filter((name) => name !== keyAspect && !closed.includes(name))
      .flatMap((name) => model.aspects.get(name) ?? [])
      .map((aspect) =>
        proposal(urn, aspect.name, completeValue(model, aspect, entityType), { systemMetadata }),
      );
    if (proposals.length === 0) continue;
    const reply = await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
    if (reply.status !== 200) throw new Error(`${urn}: ${JSON.stringify(reply.body)}`);
    position = reply.position ?? position;
  }
  return position;
}
