/** Asks for a token of operations, which need one also where the catalog needs none. */
import { type FormEvent, useState } from "react";
import { ApiError, adminTokenStore } from "../api/http.ts";

/** True if the request was denied for its token, or for the lack of one. */
export const isDenied = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 403);

interface TokenProps {
  readonly title: string;
  /** The error message of the denied request; empty if none was sent. */
  readonly message: string;
}

export function OperationToken({ title, message }: TokenProps) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adminTokenStore.set(text.trim());
  };
  return (
    <form className="panel panel-body stack token-form" onSubmit={submit}>
      <h2>{title}</h2>
      <p className="muted">
        Operations require a token with their privilege, such as the admin token in the file{" "}
        <code>operator.token</code> of the data directory. This tab keeps it until it is closed.
      </p>
      {message !== "" && (
        <p className="bad" role="alert">
          {message}
        </p>
      )}
      <div className="row">
        <input
          className="field"
          type="password"
          aria-label="Token for operations"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button primary" disabled={text.trim() === ""}>
          Use the token
        </button>
      </div>
    </form>
  );
}
