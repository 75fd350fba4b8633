/** Structured properties, forms, assertions, incidents, contracts, tests, runs of ingestion. */

import { CatalogError } from "../../../core/errors.ts";
import { objectsIn, stringsIn } from "../../../lib/json.ts";
import { ownValue } from "../../../lib/own-value.ts";
import { groupsOf } from "../../queries/entity-values.ts";
import { shownType } from "../../schema/entity-types.ts";
import { type FromValue, type Mapping, memberAt } from "../mapping.ts";
import { columnType } from "./datasets.ts";
import { columnOf } from "./shared.ts";

/** The priority is stored as a number. */
const priorities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

/** The last part of an id such as `datahub.string`. */
const idOf = (urn: string): string => urn.split(":").slice(3).join(":").split(".").at(-1) ?? "";

const dataTypes: Readonly<Record<string, string>> = {
  string: "STRING",
  number: "NUMBER",
  urn: "URN",
  rich_text: "RICH_TEXT",
  date: "DATE",
};

/** `entity` in the model. */
const about = { entityUrn: "entity" };

const columns: FromValue = ({ fields }) => stringsIn(fields).flatMap(columnOf);

/** The schema requires the entity of an incident; the aspect may name none. */
function withoutEntity(urn: string): never {
  throw new CatalogError("invalid", `"${urn}" names no entity`, {
    hint: "Write its incidentInfo with one",
  });
}

export const governance: Mapping = {
  entities: {
    StructuredPropertyEntity: {
      definition: "propertyDefinition",
      settings: "structuredPropertySettings",
    },
    DataTypeEntity: { info: "dataTypeInfo" },
    EntityTypeEntity: { info: "entityTypeInfo" },
    BusinessAttribute: { properties: "businessAttributeInfo" },
    Form: { info: "formInfo" },
    Assertion: { info: "assertionInfo", actions: "assertionActions" },
    Incident: {
      incidentType: "incidentInfo/type",
      customType: "incidentInfo/customType",
      title: "incidentInfo/title",
      description: "incidentInfo/description",
      incidentStatus: "incidentInfo/status",
      // The status of an incident was one field with that of the entity.
      status: "incidentInfo/status",
      priority: ({ aspect }) => priorities[Number(aspect("incidentInfo")?.priority)],
      assignees: ({ aspect }) =>
        objectsIn(aspect("incidentInfo")?.assignees).map(({ actor }) => actor),
      entity: ({ urn, aspect }) =>
        stringsIn(aspect("incidentInfo")?.entities)[0] ?? withoutEntity(urn),
      source: "incidentInfo/source",
      startedAt: "incidentInfo/startedAt",
      created: "incidentInfo/created",
    },
    DataContract: { properties: "dataContractProperties", status: "dataContractStatus" },
    Test: {
      name: "testInfo/name",
      category: "testInfo/category",
      description: "testInfo/description",
      definition: "testInfo/definition",
    },
    ExecutionRequest: {
      id: "key/id",
      input: "dataHubExecutionRequestInput",
      result: "dataHubExecutionRequestResult",
    },
    DataHubFile: { info: "dataHubFileInfo" },
  },
  values: {
    DataTypeInfo: { type: (_, owner) => ownValue(dataTypes, idOf(owner)) },
    EntityTypeInfo: { type: (_, owner) => shownType(idOf(owner)) },
    FormPrompt: { formUrn: (_, owner) => owner },
    // As DataHub, for a property without a definition.
    StructuredPropertyDefinition: {
      valueType: ({ valueType }, _, { namespace }) =>
        valueType ?? `urn:${namespace}:dataType:datahub.string`,
    },
    StructuredPropertyParams: { structuredProperty: "urn" },
    FormActorAssignment: {
      isAssignedToMe: async ({ users, groups }, _, { actor, loader }) => {
        if (actor === undefined) return false;
        if (stringsIn(users).includes(actor)) return true;
        const mine = await groupsOf(actor, loader);
        return stringsIn(groups).some((group) => mine.includes(group));
      },
    },
    DataContractProperties: about,
    FreshnessAssertionInfo: about,
    VolumeAssertionInfo: about,
    SqlAssertionInfo: about,
    FieldAssertionInfo: about,
    SchemaAssertionInfo: {
      entityUrn: "entity",
      fields: ({ schema }, owner, viewer) =>
        objectsIn(memberAt(schema, ["fields"])).map((field) => ({
          path: field.fieldPath,
          type: columnType(field, owner, viewer),
          nativeType: field.nativeDataType,
        })),
    },
    CustomAssertionInfo: {
      entityUrn: "entity",
      field: ({ field }) => (typeof field === "string" ? columnOf(field)[0] : null),
      fields: columns,
    },
    DatasetAssertionInfo: { datasetUrn: "dataset", fields: columns },
    IncidentSource: { source: "sourceUrn" },
    ExecutionRequestInput: { arguments: "args", actor: "actorUrn" },
  },
};
