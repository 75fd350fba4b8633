/** Policies: the list, and each policy as JSON to view, create, edit and delete. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { mutateGraphql, queryGraphql } from "../../api/http.ts";
import { isObject, type JsonObject, textsAt } from "../../api/json.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { actionsHead, Table } from "../../components/table.tsx";
import { announce, announceError } from "../../components/toasts.tsx";
import { JsonDialog } from "./json-dialog.tsx";

interface Policy {
  readonly urn: string;
  readonly name: string;
  readonly description: string | null;
  readonly state: string;
  readonly policyType: string;
  readonly editable: boolean;
  readonly privileges: readonly string[];
  readonly actors: {
    readonly users: readonly string[] | null;
    readonly groups: readonly string[] | null;
    readonly roles: readonly string[] | null;
    readonly allUsers: boolean | null;
    readonly allGroups: boolean | null;
    readonly resourceOwners: boolean | null;
  };
  readonly resources: JsonObject | null;
}

const listing = `query {
  listPolicies(input: { start: 0, count: 1000 }) {
    policies {
      urn name description state policyType editable privileges
      actors { users groups roles allUsers allGroups resourceOwners resourceOwnersTypes }
      resources {
        type resources allResources
        filter { criteria { field condition values { value } } }
        privilegeConstraints { criteria { field condition values { value } } }
      }
    }
  }
}`;

const update = `mutation ($urn: String!, $input: PolicyUpdateInput!) {
  updatePolicy(urn: $urn, input: $input)
}`;

const creation = "mutation ($input: PolicyUpdateInput!) { createPolicy(input: $input) }";

const deletion = "mutation ($urn: String!) { deletePolicy(urn: $urn) }";

/** The form of inputs: members without a value are left out, values of criteria are texts. */
function asInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asInput);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      name === "values" && Array.isArray(member) ? textsAt(member, "value") : asInput(member),
    ]),
  );
}

/** The policy in the form that mutations take. */
const inputOf = ({ urn, editable, policyType, ...rest }: Policy): JsonObject => ({
  type: policyType,
  ...(asInput(rest) as JsonObject),
});

const newPolicy: JsonObject = {
  type: "METADATA",
  name: "Name of the policy",
  description: "",
  state: "INACTIVE",
  privileges: ["VIEW_ENTITY_PAGE"],
  actors: { users: [], groups: [], allUsers: false, allGroups: false, resourceOwners: false },
  resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
};

export function Policies() {
  const queries = useQueryClient();
  const [shown, setShown] = useState<Policy | "new">();
  const { data, error, refetch } = useQuery({
    queryKey: ["policies"],
    queryFn: () =>
      queryGraphql<{ readonly listPolicies: { readonly policies: readonly Policy[] } }>(listing),
  });
  const write = async (query: string, variables: object, done: string) => {
    await mutateGraphql(query, variables);
    announce(done);
    await queries.invalidateQueries({ queryKey: ["policies"] });
  };
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  const close = () => setShown(undefined);
  return (
    <div className="stack">
      <div>
        <button type="button" className="button primary" onClick={() => setShown("new")}>
          <Icon name="plus" /> Create a policy
        </button>
      </div>
      <PolicyTable policies={data.listPolicies.policies} onShow={setShown} />
      {shown === "new" && (
        <JsonDialog
          title="Create a policy"
          value={newPolicy}
          onSave={(input) => write(creation, { input }, "Policy created")}
          onClose={close}
        />
      )}
      {shown !== undefined && shown !== "new" && (
        <JsonDialog
          title={shown.name}
          value={inputOf(shown)}
          onSave={
            shown.editable
              ? (input) => write(update, { urn: shown.urn, input }, "Policy saved")
              : undefined
          }
          onClose={close}
        >
          {shown.editable && (
            <button
              type="button"
              className="button danger"
              onClick={() => {
                close();
                write(deletion, { urn: shown.urn }, "Policy deleted").catch(announceError);
              }}
            >
              Delete the policy
            </button>
          )}
        </JsonDialog>
      )}
    </div>
  );
}

interface TableProps {
  readonly policies: readonly Policy[];
  readonly onShow: (policy: Policy) => void;
}

const PolicyTable = ({ policies, onShow }: TableProps) => (
  <Table panel label="Policies" heads={["Policy", "Applies to", "Grants", "State", actionsHead]}>
    {policies.map((policy) => (
      <tr key={policy.urn}>
        <td>
          {policy.name}
          <span className="muted small block">{policy.description}</span>
        </td>
        <td className="cell-wrap">
          <Actors policy={policy} />
        </td>
        <td className="num nowrap" title={policy.privileges.join("\n")}>
          {policy.privileges.length} {policy.privileges.length === 1 ? "privilege" : "privileges"}
        </td>
        <td>
          <span className={policy.state === "ACTIVE" ? "badge good-badge" : "badge"}>
            {policy.state.toLowerCase()}
          </span>
        </td>
        <td className="right">
          <button
            type="button"
            className="button"
            aria-label={`${policy.editable ? "Edit" : "View"} ${policy.name}`}
            onClick={() => onShow(policy)}
          >
            {policy.editable ? "Edit" : "View"}
          </button>
        </td>
      </tr>
    ))}
  </Table>
);

/** The users, groups and roles that a policy applies to. */
function Actors({ policy }: { readonly policy: Policy }) {
  const { users, groups, roles, allUsers, allGroups, resourceOwners } = policy.actors;
  const words = [
    allUsers ? "all users" : undefined,
    allGroups ? "all groups" : undefined,
    resourceOwners ? "owners" : undefined,
  ].filter((word) => word !== undefined);
  const urns = [...(users ?? []), ...(groups ?? []), ...(roles ?? [])];
  return (
    <span className="row tight">
      {words.join(", ")}
      {urns.slice(0, 6).map((urn) => (
        <EntityLink key={urn} urn={urn} />
      ))}
      {urns.length > 6 && <span className="muted">and {urns.length - 6} more</span>}
    </span>
  );
}
