/** Users, groups, roles, policies, views and other settings of people. */
import { objectsIn, stringsIn } from "../../../lib/json.ts";
import { shownType } from "../../schema/entity-types.ts";
import { type Mapping, memberAt } from "../mapping.ts";

const userInfo = { manager: "managerUrn" };

export const people: Mapping = {
  entities: {
    CorpUser: {
      username: ({ urn }) => urn.split(":").slice(3).join(":"),
      properties: "corpUserInfo",
      info: "corpUserInfo",
      editableProperties: "corpUserEditableInfo",
      editableInfo: "corpUserEditableInfo",
      status: "corpUserStatus/status",
      // The salt and the hash themselves are secret.
      isNativeUser: async ({ urn, exists }, { entities }) => {
        if (!exists) return false;
        const credentials = (await entities.find(urn))?.corpUserCredentials;
        return memberAt(credentials, ["salt"]) !== undefined;
      },
      // Clients read the appearance of users who have set nothing.
      settings: ({ aspect }) => ({ appearance: {}, ...aspect("corpUserSettings") }),
    },
    CorpGroup: { info: "corpGroupInfo", origin: "origin" },
    DataHubRole: { name: "dataHubRoleInfo/name", description: "dataHubRoleInfo/description" },
    DataHubPolicy: {
      name: "dataHubPolicyInfo/displayName",
      policyType: "dataHubPolicyInfo/type",
      state: "dataHubPolicyInfo/state",
      description: "dataHubPolicyInfo/description",
      resources: "dataHubPolicyInfo/resources",
      privileges: "dataHubPolicyInfo/privileges",
      actors: "dataHubPolicyInfo/actors",
      editable: "dataHubPolicyInfo/editable",
    },
    DataHubView: {
      name: "dataHubViewInfo/name",
      viewType: "dataHubViewInfo/type",
      description: "dataHubViewInfo/description",
      definition: "dataHubViewInfo/definition",
    },
    Post: {
      postType: "postInfo/type",
      content: "postInfo/content",
      lastModified: ({ aspect }) => ({ time: aspect("postInfo")?.lastModified }),
    },
    QueryEntity: {
      properties: "queryProperties",
      // A subject is a dataset, or a column with its dataset.
      subjects: ({ aspect }) =>
        objectsIn(aspect("querySubjects")?.subjects).flatMap(({ entity }) => {
          const column = /^urn:[^:]+:schemaField:\((urn:.*\)),/.exec(String(entity));
          if (column !== null) return [{ dataset: column[1], schemaField: entity }];
          return /^urn:[^:]+:dataset:/.test(String(entity)) ? [{ dataset: entity }] : [];
        }),
    },
    OwnershipTypeEntity: { info: "ownershipTypeInfo", name: "ownershipTypeInfo/name" },
    DataHubPageModule: { properties: "dataHubPageModuleProperties" },
    DataHubPageTemplate: { properties: "dataHubPageTemplateProperties" },
  },
  values: {
    CorpUserProperties: userInfo,
    CorpUserInfo: userInfo,
    CorpUserEditableProperties: {
      persona: ({ persona }) => (persona === undefined ? null : { urn: persona }),
    },
    ActorFilter: {
      resolvedUsers: "users",
      resolvedGroups: "groups",
      resolvedRoles: "roles",
      resolvedOwnershipTypes: "resourceOwnersTypes",
    },
    PolicyMatchCriterion: {
      values: ({ values }) =>
        stringsIn(values).map((value) => ({
          value,
          entity: value.startsWith("urn:") ? value : null,
        })),
    },
    PostContent: { contentType: "type" },
    DataHubViewDefinition: {
      entityTypes: ({ entityTypes }) => stringsIn(entityTypes).map(shownType),
      // Several clauses become one flat list, which the schema allows.
      filter: ({ filter }) => {
        const clauses = objectsIn((filter as Readonly<Record<string, unknown>> | undefined)?.or);
        const criteria = clauses.flatMap(({ and }) => objectsIn(and));
        return {
          operator: clauses.length > 1 ? "OR" : "AND",
          filters: criteria.map(({ field, condition, values, value, negated }) => ({
            field: String(field).replace(/\.keyword$/, ""),
            condition,
            values: Array.isArray(values) && values.length > 0 ? values : [value].filter(Boolean),
            negated: negated ?? false,
          })),
        };
      },
    },
    QueryProperties: { createdOn: "created" },
    CorpUserHomePageSettings: { dismissedAnnouncementUrns: "dismissedAnnouncements" },
    SummaryElement: { structuredProperty: "structuredPropertyUrn" },
  },
};
