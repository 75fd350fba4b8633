/**
 * Signing up with an invite link, and setting a new password with a reset link. The token is in the
 * fragment of the link, which the browser does not send, so no log of a server contains it.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { type NewPassword, signIn } from "../../api/http.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { messageOf } from "../../components/states.tsx";

export const SignUpPage = () => (
  <NewPasswordPage
    title="Create your account"
    submit="Create the account"
    isNew
    credentials={({ username, password, fullName, email, token }) => ({
      ...{ username, password, fullName, email },
      inviteToken: token,
    })}
  />
);

export const ResetPage = () => (
  <NewPasswordPage
    title="Set a new password"
    submit="Set the password"
    isNew={false}
    credentials={({ username, password, token }) => ({ username, password, resetToken: token })}
  />
);

interface Entries {
  readonly username: string;
  readonly fullName: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

interface PageProps {
  readonly title: string;
  readonly submit: string;
  /** The page also asks for the names of the user. */
  readonly isNew: boolean;
  readonly credentials: (entries: Entries) => NewPassword;
}

const passwordCharactersMin = 8;

function NewPasswordPage({ title, submit, isNew, credentials }: PageProps) {
  const url = useSearch({ strict: false }) as UrlQuery;
  const token = useLocation({ select: ({ hash }) => hash });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [error, setError] = useState<string>();
  const [running, setRunning] = useState(false);
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const entry = (name: string): string => String(form.get(name) ?? "").trim();
    setRunning(true);
    setError(undefined);
    try {
      await signIn(
        credentials({
          username: entry("username"),
          fullName: entry("fullName"),
          email: entry("email"),
          password: String(form.get("password") ?? ""),
          token,
        }),
      );
      await queries.invalidateQueries();
      void navigate({ to: "/", replace: true });
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setRunning(false);
    }
  };
  return (
    <div className="page signin">
      <form className="panel panel-body stack" onSubmit={(event) => void onSubmit(event)}>
        <h1>{title}</h1>
        {token === "" && (
          <p className="bad" role="alert">
            The link has no token. Copy the whole link, or ask an administrator for a new one.
          </p>
        )}
        <Entry
          label="User name"
          name="username"
          autoComplete="username"
          value={listOf(url.user)[0]}
        />
        {isNew && <Entry label="Full name" name="fullName" autoComplete="name" />}
        {isNew && <Entry label="E-mail address" name="email" type="email" autoComplete="email" />}
        <Entry
          label={`New password, of at least ${passwordCharactersMin} characters`}
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={passwordCharactersMin}
        />
        {error !== undefined && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
        <button type="submit" className="button primary" disabled={running || token === ""}>
          {submit}
        </button>
      </form>
    </div>
  );
}

interface EntryProps {
  readonly label: string;
  readonly name: string;
  readonly autoComplete: string;
  readonly type?: string;
  readonly minLength?: number;
  readonly value?: string | undefined;
}

const Entry = ({ label, value, ...field }: EntryProps) => (
  <label className="field-label">
    {label}
    <input {...field} className="field" required defaultValue={value} />
  </label>
);
