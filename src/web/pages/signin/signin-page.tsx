/** Exchanges an access token for a session. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { signIn } from "../../api/http.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { messageOf } from "../../components/states.tsx";

export default function SigninPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const [error, setError] = useState<string>();
  const [running, setRunning] = useState(false);
  const to = listOf(url.to)[0] ?? "/";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(undefined);
    try {
      await signIn(token.trim());
      await queries.invalidateQueries();
      // Only a path of this page: never an address of another site.
      void navigate({ to: /^\/(?!\/)/.test(to) ? to : "/", replace: true });
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setRunning(false);
    }
  };
  return (
    <div className="page signin">
      <form className="panel panel-body stack" onSubmit={(event) => void submit(event)}>
        <h1>Sign in</h1>
        <p className="muted">
          The catalog requires an access token. The session ends when the token expires or is
          revoked.
        </p>
        <label className="field-label">
          Access token
          <input
            className="field mono"
            type="password"
            name="token"
            autoComplete="current-password"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {error !== undefined && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
        <button type="submit" className="button primary" disabled={running || token.trim() === ""}>
          Sign in
        </button>
        <p className="muted small">
          Create a token with <code>annals token create</code>, or ask an administrator. The token
          of the first start is in the data directory, in <code>operator.token</code>.
        </p>
      </form>
    </div>
  );
}
