/** Designed states of a page or a part of it: loading, empty, failed, not found. */
import type { ReactNode } from "react";
import { ApiError } from "../api/http.ts";

/** Gray lines in the place of the content, after a short delay. */
export function Loading({ lines = 5 }: { readonly lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, n) => `line-${n}`).map((name) => (
        <span key={name} />
      ))}
    </div>
  );
}

export const PageLoading = () => (
  <div className="page">
    <Loading lines={8} />
  </div>
);

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children !== undefined && <div className="empty-text">{children}</div>}
  </div>
);

interface FailureProps {
  readonly error: unknown;
  readonly retry?: () => void;
}

/** The error of a failed request, and a way to try again. */
export function Failure({ error, retry }: FailureProps) {
  return (
    <div className="failure" role="alert">
      <p className="failure-title">{titleOf(error)}</p>
      <p className="failure-text">{messageOf(error)}</p>
      {retry !== undefined && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "This part of the page failed";
  if (error.status === 0) return "No connection to the service";
  if (error.status === 401) return "Sign in to see this";
  if (error.status === 403) return "A privilege is missing";
  if (error.status === 404) return "Not found";
  if (error.status === 409 || error.status === 412) return "Somebody else changed this meanwhile";
  if (error.status === 503) return "The service is not ready";
  return "The service rejected the request";
}

export const NotFound = () => (
  <div className="page">
    <div className="empty">
      <h1>This page does not exist</h1>
      <p className="empty-text">
        <a href="/">Go to the home page</a>
      </p>
    </div>
  </div>
);
