/** Access tokens: list, create (shown once) and revoke. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { mutateGraphql, queryGraphql } from "../../api/http.ts";
import { privilegesForTokens, type TokenDuration, useMay } from "../../api/privileges.ts";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { actionsHead, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { announce, announceError } from "../../components/toasts.tsx";
import { useActor } from "../../components/use-actor.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly actorUrn: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

const listing = `query ($input: ListAccessTokenInput!) {
  listAccessTokens(input: $input) {
    total tokens { id name description actorUrn createdAt expiresAt lastUsedAt }
  }
}`;

export function Tokens({ mine }: { readonly mine: boolean }) {
  const actor = useActor();
  const queries = useQueryClient();
  const mayCreate = useMay()(...privilegesForTokens());
  // All tokens are offered to those alone who may list them.
  const mayList = !mine || mayCreate;
  const [creating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token>();
  const { data, error, refetch } = useQuery({
    queryKey: ["tokens", mine ? actor : ""],
    queryFn: () =>
      queryGraphql<{ readonly listAccessTokens: { readonly tokens: readonly Token[] } }>(listing, {
        input: {
          start: 0,
          count: 200,
          filters: mine ? [{ field: "ownerUrn", values: [actor] }] : [],
        },
      }),
    retry: false,
    enabled: mayList,
  });
  const revoke = async (id: string) => {
    setRevoked(undefined);
    try {
      await mutateGraphql("mutation ($tokenId: String!) { revokeAccessToken(tokenId: $tokenId) }", {
        tokenId: id,
      });
      announce("Token revoked");
    } catch (failure) {
      announceError(failure);
    }
    await queries.invalidateQueries({ queryKey: ["tokens"] });
  };
  if (!mayList) {
    return (
      <Empty title="No tokens">
        Creating and listing your tokens needs the privilege “Generate Personal Access Tokens”.
      </Empty>
    );
  }
  return (
    <div className="stack">
      {mine && mayCreate && (
        <div>
          <button type="button" className="button primary" onClick={() => setCreating(true)}>
            <Icon name="plus" /> Create a token
          </button>
        </div>
      )}
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={5} />}
      {data?.listAccessTokens.tokens.length === 0 && (
        <Empty title="No tokens">A token lets a program act for a user.</Empty>
      )}
      {data !== undefined && data.listAccessTokens.tokens.length > 0 && (
        <TokenTable tokens={data.listAccessTokens.tokens} withUser={!mine} onRevoke={setRevoked} />
      )}
      {creating && <CreateToken actor={actor} onClose={() => setCreating(false)} />}
      {revoked !== undefined && (
        <Dialog title={`Revoke ${revoked.name}`} onClose={() => setRevoked(undefined)}>
          <p>Programs that use the token lose access within a second. This cannot be undone.</p>
          <DialogButtons
            label="Revoke"
            danger
            onCancel={() => setRevoked(undefined)}
            onConfirm={() => void revoke(revoked.id)}
          />
        </Dialog>
      )}
    </div>
  );
}

interface TableProps {
  readonly tokens: readonly Token[];
  readonly withUser: boolean;
  readonly onRevoke: (token: Token) => void;
}

const TokenTable = ({ tokens, withUser, onRevoke }: TableProps) => (
  <Table
    panel
    label="Tokens"
    heads={["Token", ...(withUser ? ["User"] : []), "Created", "Last used", "Expires", actionsHead]}
  >
    {tokens.map((token) => (
      <tr key={token.id}>
        <td>
          {token.name}
          <span className="muted small block">{token.description}</span>
        </td>
        {withUser && (
          <td>
            <EntityLink urn={token.actorUrn} />
          </td>
        )}
        <td>
          <Time at={token.createdAt} relative />
        </td>
        <td>
          {token.lastUsedAt === null ? (
            <span className="muted">never</span>
          ) : (
            <Time at={token.lastUsedAt} relative />
          )}
        </td>
        <td>{token.expiresAt === null ? "never" : <Time at={token.expiresAt} />}</td>
        <td className="right">
          <button type="button" className="button danger" onClick={() => onRevoke(token)}>
            Revoke
          </button>
        </td>
      </tr>
    ))}
  </Table>
);

const durations: readonly (readonly [TokenDuration, string])[] = [
  ["ONE_HOUR", "One hour"],
  ["ONE_DAY", "One day"],
  ["ONE_WEEK", "One week"],
  ["ONE_MONTH", "One month"],
  ["THREE_MONTHS", "Three months"],
  ["ONE_YEAR", "One year"],
  ["NO_EXPIRY", "No expiry"],
];

const creation = `mutation ($input: CreateAccessTokenInput!) {
  createAccessToken(input: $input) { accessToken }
}`;

interface CreateProps {
  readonly actor: string;
  readonly onClose: () => void;
}

function CreateToken({ actor, onClose }: CreateProps) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const may = useMay();
  const offered = durations.filter(([value]) => may(...privilegesForTokens(value)));
  const [chosen, setDuration] = useState<string>("ONE_MONTH");
  const duration = offered.some(([value]) => value === chosen) ? chosen : offered.at(-1)?.[0];
  const [token, setToken] = useState<string>();
  const create = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const made = await mutateGraphql<{
        readonly createAccessToken: { readonly accessToken: string };
      }>(creation, { input: { type: "PERSONAL", actorUrn: actor, duration, name: name.trim() } });
      setToken(made.createAccessToken.accessToken);
      await queries.invalidateQueries({ queryKey: ["tokens"] });
    } catch (error) {
      announceError(error);
    }
  };
  if (token !== undefined) {
    return (
      <SecretDialog
        title="The new token"
        label="Token"
        secret={token}
        about="Copy the token now. It is shown this once."
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form className="stack" onSubmit={(event) => void create(event)}>
        <p className="muted">
          The token acts for <EntityLink urn={actor} />.
        </p>
        <label className="field-label">
          Name
          <input
            className="field"
            value={name}
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="field-label">
          Valid for
          <select
            className="field"
            value={duration}
            onChange={(event) => setDuration(event.target.value)}
          >
            {offered.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <DialogButtons label="Create" disabled={name.trim() === ""} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
