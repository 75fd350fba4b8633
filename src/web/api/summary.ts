/** The short form of an entity of any type, as lists and headers show it. */
import type { Aspects } from "./aspect.ts";
import { at, listAt, textAt, textsAt } from "./json.ts";
import { nameOfUrn, partsOf, platformOfUrn, typeOf } from "./urn.ts";

export interface Owner {
  readonly urn: string;
  readonly type: string;
  readonly typeUrn: string | undefined;
}

export interface Summary {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly subType: string | undefined;
  readonly platform: string | undefined;
  readonly environment: string | undefined;
  readonly container: string | undefined;
  /** Names of folders from the outermost one. */
  readonly path: readonly string[];
  readonly owners: readonly Owner[];
  readonly tags: readonly string[];
  readonly terms: readonly string[];
  readonly domain: string | undefined;
  readonly deprecated: boolean;
  readonly removed: boolean;
  /** False: the service answered with the key alone, from the urn. */
  readonly exists: boolean;
  readonly color: string | undefined;
}

/** Aspects with a name and a description, those of people first. */
const propertyAspects: readonly string[] = [
  "editableDatasetProperties",
  "editableChartProperties",
  "editableDashboardProperties",
  "editableDataJobProperties",
  "editableDataFlowProperties",
  "editableContainerProperties",
  "editableMlModelProperties",
  "editableMlModelGroupProperties",
  "editableMlFeatureProperties",
  "editableMlFeatureTableProperties",
  "editableMlPrimaryKeyProperties",
  "editableNotebookProperties",
  "corpUserEditableInfo",
  "corpGroupEditableInfo",
  "datasetProperties",
  "chartInfo",
  "dashboardInfo",
  "dataJobInfo",
  "dataFlowInfo",
  "containerProperties",
  "corpUserInfo",
  "corpGroupInfo",
  "tagProperties",
  "domainProperties",
  "dataProductProperties",
  "glossaryTermInfo",
  "glossaryNodeInfo",
  "dataPlatformInfo",
  "dataPlatformInstanceProperties",
  "mlModelProperties",
  "mlModelGroupProperties",
  "mlFeatureProperties",
  "mlFeatureTableProperties",
  "mlPrimaryKeyProperties",
  "mlModelDeploymentProperties",
  "dataProcessInstanceProperties",
  "propertyDefinition",
  "documentInfo",
  "notebookInfo",
  "queryProperties",
  "dataHubPolicyInfo",
  "dataHubRoleInfo",
  "ownershipTypeInfo",
  "assertionInfo",
  "incidentInfo",
  "formInfo",
  "applicationProperties",
  "dataHubIngestionSourceInfo",
  "businessAttributeInfo",
  "dataTypeInfo",
  "entityTypeInfo",
  "versionSetProperties",
  "roleProperties",
  "dataHubAccessTokenInfo",
  "testInfo",
  "dataHubViewInfo",
  "erModelRelationshipProperties",
  "semanticModelInfo",
  "metricInfo",
  "lifecycleStageTypeInfo",
  "dataHubPageModuleProperties",
  "serviceProperties",
  "aiAgentInfo",
  "apiProperties",
  "repositoryProperties",
  "agentSkillInfo",
];

export const summaryAspects: readonly string[] = [
  ...propertyAspects,
  "dataPlatformInstance",
  "subTypes",
  "browsePathsV2",
  "container",
  "ownership",
  "globalTags",
  "glossaryTerms",
  "domains",
  "deprecation",
  "status",
];

const nameMembers = ["displayName", "name", "title", "fullName"] as const;
const descriptionMembers = ["description", "definition", "aboutMe", "about", "note"] as const;

/** The first text that the aspects of properties have under one of the names. */
function firstText(aspects: Aspects, members: readonly string[]): string | undefined {
  for (const aspect of propertyAspects) {
    for (const member of members) {
      const text = textAt(aspects.get(aspect)?.value, member);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

export function summaryOf(urn: string, aspects: Aspects): Summary {
  const aspectValue = (name: string): unknown => aspects.get(name)?.value;
  const type = typeOf(urn);
  return {
    urn,
    type,
    name: firstText(aspects, nameMembers) ?? nameOfUrn(urn),
    description:
      firstText(aspects, descriptionMembers) ??
      textAt(aspectValue("documentInfo"), "contents", "text") ??
      "",
    subType: textsAt(listAt(aspectValue("subTypes"), "typeNames"))[0],
    platform: textAt(aspectValue("dataPlatformInstance"), "platform") ?? platformOfUrn(urn),
    environment: type === "dataset" ? partsOf(urn)[2] : undefined,
    container: textAt(aspectValue("container"), "container"),
    path: textsAt(listAt(aspectValue("browsePathsV2"), "path"), "id"),
    owners: listAt(aspectValue("ownership"), "owners").flatMap((one) => {
      const owner = textAt(one, "owner");
      const type = textAt(one, "type") ?? "NONE";
      return owner === undefined ? [] : [{ urn: owner, type, typeUrn: textAt(one, "typeUrn") }];
    }),
    tags: textsAt(listAt(aspectValue("globalTags"), "tags"), "tag"),
    terms: textsAt(listAt(aspectValue("glossaryTerms"), "terms"), "urn"),
    domain: textsAt(listAt(aspectValue("domains"), "domains"))[0],
    deprecated: at(aspectValue("deprecation"), "deprecated") === true,
    removed: at(aspectValue("status"), "removed") === true,
    exists: [...aspects.values()].some(({ version }) => version !== ""),
    color: textAt(aspectValue("tagProperties"), "colorHex"),
  };
}
