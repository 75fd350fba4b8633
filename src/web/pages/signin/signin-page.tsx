/** Exchanges a user name and a password, or an access token, for a session. */
import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { signIn } from "../../api/http.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { messageOf } from "../../components/states.tsx";

export default function SigninPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const router = useRouter();
  const queries = useQueryClient();
  const [byToken, setByToken] = useState(false);
  const [username, setUsername] = useState("");
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<string>();
  const [running, setRunning] = useState(false);
  const to = listOf(url.to)[0] ?? "/";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(undefined);
    try {
      const password = { username: username.trim(), password: secret };
      await signIn(byToken ? { token: secret.trim() } : password);
      await queries.invalidateQueries();
      // Only a path of this page: never an address of another site.
      router.history.replace(/^\/(?![/\\])/.test(to) ? to : "/");
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setRunning(false);
    }
  };
  const switchForm = () => {
    setByToken(!byToken);
    setSecret("");
    setError(undefined);
  };
  const incomplete = secret.trim() === "" || (!byToken && username.trim() === "");
  return (
    <div className="page signin">
      <form className="panel panel-body stack" onSubmit={(event) => void submit(event)}>
        <h1>Sign in</h1>
        {!byToken && (
          <label className="field-label">
            User name
            <input
              className="field"
              name="username"
              autoComplete="username"
              required
              value={username}
              onChange={(event) => setUsername(event.target.value)}
            />
          </label>
        )}
        <label className="field-label">
          {byToken ? "Access token" : "Password"}
          <input
            className={byToken ? "field mono" : "field"}
            type="password"
            name={byToken ? "token" : "password"}
            autoComplete="current-password"
            required
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
        {error !== undefined && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
        <button type="submit" className="button primary" disabled={running || incomplete}>
          Sign in
        </button>
        <button type="button" className="button" onClick={switchForm}>
          {byToken ? "Use a password" : "Use an access token"}
        </button>
        <p className="muted small">
          {byToken ? (
            <>
              Create a token with <code>annals token create</code>, or ask an administrator. The
              token of the first start is in the data directory, in <code>operator.token</code>.
            </>
          ) : (
            "An administrator invites users, and resets passwords. The session lasts a day."
          )}
        </p>
      </form>
    </div>
  );
}
