/** A dataset with the schema of an earlier version, which a version stamp names. */
import { entityTypeOf } from "../../../core/urn.ts";
import { jsonObject } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import { memberAt, stringsIn } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { nameOf, platformOf, propertiesOf } from "../entity-values.ts";

interface VersionedInput {
  readonly urn: string;
  /** `<aspect>:<version>;…` */
  readonly versionStamp?: Maybe<string>;
}

export async function versionedDataset(_: never, input: VersionedInput, viewer: Viewer) {
  const { loader } = viewer;
  const entity = await loader.load(input.urn);
  const { urn, exists, aspect } = entity;
  if (!exists || entityTypeOf(urn) !== "dataset") return null;
  const version = /(?:^|;)schemaMetadata:(\d+)/.exec(input.versionStamp ?? "")?.[1];
  const stored =
    version === undefined
      ? undefined
      : await loader.version(urn, "schemaMetadata", Number(version));
  const schema: unknown = stored && JSON.parse(stored.value);
  const [application] = stringsIn(aspect("applications")?.applications);
  const [domain] = stringsIn(aspect("domains")?.domains);
  return {
    urn,
    type: "DATASET",
    name: nameOf(entity),
    platform: platformOf(entity, viewer),
    container: aspect("container")?.container,
    properties: propertiesOf(entity),
    editableProperties: aspect("editableDatasetProperties"),
    ownership: aspect("ownership"),
    deprecation: aspect("deprecation"),
    institutionalMemory: aspect("institutionalMemory"),
    editableSchemaMetadata: aspect("editableSchemaMetadata"),
    status: aspect("status"),
    tags: aspect("globalTags"),
    glossaryTerms: aspect("glossaryTerms"),
    domain: domain === undefined ? null : { domain },
    application: application === undefined ? null : { application },
    schema: jsonObject(schema) ? schema : aspect("schemaMetadata"),
    subTypes: aspect("subTypes"),
    viewProperties: aspect("viewProperties"),
    origin: memberAt(entity.key(), ["origin"]),
  };
}
