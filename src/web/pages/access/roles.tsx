/** Roles: the list with their members, assignment to users and groups, and each role as JSON. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { entityQuery, useSummary } from "../../api/entities.ts";
import { mutateGraphql, read } from "../../api/http.ts";
import type { JsonObject } from "../../api/json.ts";
import { listAt, textsAt } from "../../api/json.ts";
import { useMay } from "../../api/privileges.ts";
import { search } from "../../api/search.ts";
import { writeAspect } from "../../api/writes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EntityChip } from "../../components/entity-link.tsx";
import { EntityPicker } from "../../components/entity-picker.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { actionsHead, Table } from "../../components/table.tsx";
import { announce, announceError } from "../../components/toasts.tsx";
import { JsonDialog } from "./json-dialog.tsx";

/** Members in a row of the table. */
const membersMax = 100;

const assignment = `mutation ($input: BatchAssignRoleInput!) { batchAssignRole(input: $input) }`;

export function Roles() {
  const mayAssign = useMay()("MANAGE_USERS_AND_GROUPS");
  const [assigning, setAssigning] = useState<string>();
  const [shown, setShown] = useState<string>();
  const { data, error, refetch } = useQuery({
    queryKey: ["search", "roles"],
    queryFn: ({ signal }) => search({ query: "*", types: ["dataHubRole"], count: 200, signal }),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={5} />;
  if (data.total === 0) return <Empty title="No roles" />;
  return (
    <>
      <Table panel label="Roles" heads={["Role", "Members", actionsHead]}>
        {data.hits.map(({ urn }) => (
          <RoleRow
            key={urn}
            urn={urn}
            onAssign={mayAssign ? () => setAssigning(urn) : undefined}
            onShow={() => setShown(urn)}
          />
        ))}
      </Table>
      {assigning !== undefined && (
        <AssignDialog urn={assigning} onClose={() => setAssigning(undefined)} />
      )}
      {shown !== undefined && <RoleDialog urn={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

const membersKey = (urn: string) => ["role-members", urn];

interface RowProps {
  readonly urn: string;
  /** Absent where the user may not assign roles. */
  readonly onAssign: (() => void) | undefined;
  readonly onShow: () => void;
}

function RoleRow({ urn, onAssign, onShow }: RowProps) {
  const { name, description } = useSummary(urn);
  const { data } = useQuery({
    queryKey: membersKey(urn),
    queryFn: ({ signal }) =>
      read<unknown>(
        `/relationships?direction=INCOMING&urn=${encodeURIComponent(urn)}&types=List(IsMemberOfRole)&count=${membersMax}`,
        { signal },
      ),
  });
  const members = textsAt(listAt(data, "relationships"), "entity");
  return (
    <tr>
      <td>
        <span>{name}</span>
        <span className="muted small block">{description}</span>
      </td>
      <td className="cell-wrap">
        <span className="row tight">
          {members.map((member) => (
            <EntityChip key={member} urn={member} />
          ))}
          {data !== undefined && members.length === 0 && <span className="muted">none</span>}
        </span>
      </td>
      <td>
        <span className="row keep">
          {onAssign !== undefined && (
            <button
              type="button"
              className="button"
              aria-label={`Assign the role ${name}`}
              onClick={onAssign}
            >
              Assign
            </button>
          )}
          <button
            type="button"
            className="button"
            aria-label={`The role ${name} as JSON`}
            onClick={onShow}
          >
            JSON
          </button>
        </span>
      </td>
    </tr>
  );
}

interface DialogProps {
  readonly urn: string;
  readonly onClose: () => void;
}

function AssignDialog({ urn, onClose }: DialogProps) {
  const { name } = useSummary(urn);
  const queries = useQueryClient();
  const assign = async (actor: string) => {
    onClose();
    try {
      await mutateGraphql(assignment, { input: { roleUrn: urn, actors: [actor] } });
      announce("Role assigned");
    } catch (error) {
      announceError(error);
    }
    await queries.invalidateQueries({ queryKey: ["role-members"] });
  };
  return (
    <Dialog title={`Assign the role ${name}`} onClose={onClose}>
      <p className="muted">A user has one role: the new one replaces another.</p>
      <EntityPicker label="User" types={["corpuser"]} onPick={(actor) => void assign(actor)} />
    </Dialog>
  );
}

function RoleDialog({ urn, onClose }: DialogProps) {
  const { name } = useSummary(urn);
  const queries = useQueryClient();
  const mayEdit = useMay()("MANAGE_POLICIES");
  const { data, error } = useQuery(entityQuery(urn));
  if (error !== null) {
    return (
      <Dialog title={name} onClose={onClose}>
        <Failure error={error} />
      </Dialog>
    );
  }
  const aspect = data?.aspects.get("dataHubRoleInfo");
  if (aspect === undefined) return null;
  const save = async (value: JsonObject) => {
    await writeAspect(urn, "dataHubRoleInfo", value, aspect.version);
    announce("Role saved");
    await queries.invalidateQueries();
  };
  return (
    <JsonDialog
      title={name}
      value={aspect.value}
      onSave={mayEdit ? save : undefined}
      onClose={onClose}
    />
  );
}
