/** The members of a group, and the groups of a user, with editing. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { read } from "../../api/http.ts";
import { listAt, numberAt, textAt } from "../../api/json.ts";
import { useMay } from "../../api/privileges.ts";
import { addMembers, removeMembers } from "../../api/writes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Avatar, EntityLink } from "../../components/entity-link.tsx";
import { EntityPicker } from "../../components/entity-picker.tsx";
import { Icon, TypeGlyph } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { useEdit } from "./editing/use-edit.ts";

interface PanelProps {
  readonly urn: string;
  /** The page shows the past. */
  readonly past: boolean;
}

/** Members of a group, or groups of a user, that are read at once. */
const step = 100;

interface Page {
  readonly urns: readonly string[];
  readonly total: number;
}

async function readMembership(
  urn: string,
  direction: "INCOMING" | "OUTGOING",
  count: number,
): Promise<Page> {
  const types = "IsMemberOfNativeGroup,IsMemberOfGroup";
  const query = new URLSearchParams({ urn, direction, types, count: String(count) });
  const value = await read<unknown>(`/relationships?${query}`);
  const urns = listAt(value, "relationships").flatMap((one) => textAt(one, "entity") ?? []);
  // A user may be a member in both forms.
  const repeated = urns.length - new Set(urns).size;
  return { urns: [...new Set(urns)], total: (numberAt(value, "total") ?? 0) - repeated };
}

/** The members of a group. */
export const GroupMembers = ({ urn, past }: PanelProps) => (
  <Membership
    urn={urn}
    past={past}
    title="Members"
    direction="INCOMING"
    noun="member"
    types={["corpuser"]}
    add={(user) => addMembers(urn, [user])}
    remove={(user) => removeMembers(urn, [user])}
  />
);

/** The groups of a user. */
export const UserGroups = ({ urn, past }: PanelProps) => (
  <Membership
    urn={urn}
    past={past}
    title="Groups"
    direction="OUTGOING"
    noun="group"
    types={["corpGroup"]}
    add={(group) => addMembers(group, [urn])}
    remove={(group) => removeMembers(group, [urn])}
  />
);

interface MembershipProps extends PanelProps {
  readonly title: string;
  readonly direction: "INCOMING" | "OUTGOING";
  readonly noun: string;
  readonly types: readonly string[];
  readonly add: (urn: string) => Promise<unknown>;
  readonly remove: (urn: string) => Promise<unknown>;
}

function Membership(props: MembershipProps) {
  const { urn, past, title, direction, noun, types, add, remove } = props;
  const readOnly = !useMay()("MANAGE_USERS_AND_GROUPS") || past;
  const [count, setCount] = useState(step);
  const [adding, setAdding] = useState(false);
  const edit = useEdit(urn);
  const { data, error } = useQuery({
    queryKey: ["entity", urn, "membership", direction, count],
    queryFn: () => readMembership(urn, direction, count),
  });
  return (
    <section className="panel">
      <header>
        <h2>{title}</h2>
        {data !== undefined && <span className="muted num">{data.total}</span>}
        {!readOnly && (
          <button type="button" className="button quiet" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Add
          </button>
        )}
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data?.urns.length === 0 && <Empty title={`No ${title.toLowerCase()}`} />}
      <ul className="edge-list member-list">
        {(data?.urns ?? []).map((one) => (
          <Member
            key={one}
            urn={one}
            onRemove={
              readOnly
                ? undefined
                : () => void edit(() => remove(one), `Removed from ${title.toLowerCase()}`)
            }
          />
        ))}
      </ul>
      {data !== undefined && data.total > data.urns.length && (
        <p className="panel-body">
          <button type="button" className="button" onClick={() => setCount(count + step)}>
            More
          </button>
        </p>
      )}
      {adding && (
        <Dialog title={`Add a ${noun}`} onClose={() => setAdding(false)}>
          <EntityPicker
            types={types}
            label={`Find a ${noun === "member" ? "user" : noun}`}
            onPick={(one) => {
              setAdding(false);
              void edit(() => add(one), `Added to ${title.toLowerCase()}`);
            }}
          />
        </Dialog>
      )}
    </section>
  );
}

interface MemberProps {
  readonly urn: string;
  readonly onRemove: (() => void) | undefined;
}

function Member({ urn, onRemove }: MemberProps) {
  const { name, type, description } = useSummary(urn);
  return (
    <li>
      {type === "corpuser" ? <Avatar urn={urn} name={name} /> : <TypeGlyph type={type} />}
      <EntityLink urn={urn} />
      <span className="muted small clip spread">{description}</span>
      {onRemove !== undefined && (
        <button
          type="button"
          className="button quiet icon"
          aria-label={`Remove ${name}`}
          title="Remove"
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </li>
  );
}
