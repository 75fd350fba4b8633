/**
 * Requests to the service. Adds the acting user, the CSRF token of a session and the position of the
 * latest write, so that each read shows what this page wrote before.
 */
import { createStore } from "./store.ts";

/** An error response of the service, or a request without any response (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** A condition of the request does not hold: another write came first. */
  readonly failedCondition: boolean;
  constructor(message: string, status: number, code: string, failedCondition = false) {
    super(message);
    this.status = status;
    this.code = code;
    this.failedCondition = failedCondition;
  }
}

export interface Session {
  readonly signInRequired: boolean;
  readonly authenticated: boolean;
  readonly actor: string | null;
  readonly actorHeaderTrusted: boolean;
  /** True if policies decide about writes. */
  readonly writeAuthorization: boolean;
  readonly csrfToken: string | null;
  readonly expiresAt: number | string | null;
  readonly version: string | null;
}

/** The session of a service that requires no tokens. */
const openSession: Session = {
  signInRequired: false,
  authenticated: false,
  actor: null,
  actorHeaderTrusted: true,
  writeAuthorization: false,
  csrfToken: null,
  expiresAt: null,
  version: null,
};

export const sessionStore = createStore<Session>(openSession);
export const connectionStore = createStore<"online" | "offline">("online");
export const actorStore = createStore<string>(stored("annals.actor"));
/** A token for operations. It ends with the tab. */
export const adminTokenStore = createStore<string>("");

actorStore.subscribe(() => keep("annals.actor", actorStore.get()));

/** A choice that the browser stores; empty without one. */
export function stored(name: string): string {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Stores a choice for later pages. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage, the choice ends with the page.
  }
}

let latestWrite = 0;
/** Reads wait for the latest write only for a while: a failing view must not block every page. */
let latestWriteAt = 0;
const waitForWriteMs = 30_000;

interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request reads, although its method is POST. */
  readonly reads?: boolean;
  /** Send the token for operations. */
  readonly operation?: boolean;
}

export interface Answer<T> {
  readonly value: T;
  /** Position of the log that the response shows or wrote. */
  readonly position: number;
}

export async function send<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const response = await fetchFrom(path, options);
  const text = await response.text();
  const value = text === "" ? undefined : parsed(text);
  if (!response.ok) throw errorOf(response.status, value, text);
  const position = Number(response.headers.get("x-annals-position") ?? 0);
  const method = options.method ?? (options.body === undefined ? "GET" : "POST");
  if (method !== "GET" && options.reads !== true) noteWrite(position);
  return { value: value as T, position };
}

/** The value of a response alone. */
export const read = async <T>(path: string, options: RequestOptions = {}): Promise<T> =>
  (await send<T>(path, { reads: true, ...options })).value;

function noteWrite(position: number): void {
  if (!(position > latestWrite)) return;
  latestWrite = position;
  latestWriteAt = Date.now();
}

async function fetchFrom(path: string, options: RequestOptions): Promise<Response> {
  try {
    const response = await fetch(path, {
      method: options.method ?? (options.body === undefined ? "GET" : "POST"),
      headers: headersOf(path, options),
      credentials: "same-origin",
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    connectionStore.set("online");
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    connectionStore.set("offline");
    throw new ApiError("The service does not answer", 0, "unreachable");
  }
}

function headersOf(path: string, options: RequestOptions = {}): Headers {
  const headers = new Headers({ accept: "application/json", ...options.headers });
  if (options.body !== undefined) headers.set("content-type", "application/json");
  const session = sessionStore.get();
  const isGet = (options.method ?? (options.body === undefined ? "GET" : "POST")) === "GET";
  if (!isGet && session.csrfToken !== null) headers.set("x-csrf-token", session.csrfToken);
  const actor = actorStore.get();
  const token = adminTokenStore.get();
  if (options.operation && token !== "") headers.set("authorization", `Bearer ${token}`);
  else if (session.actorHeaderTrusted && !session.signInRequired && actor !== "") {
    headers.set("x-service-actor", actor);
  }
  const waits = latestWrite > 0 && Date.now() - latestWriteAt < waitForWriteMs;
  if (waits && (isGet || options.reads) && !/[?&]asOf/.test(path)) {
    headers.set("x-annals-min-position", String(latestWrite));
  }
  return headers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorOf(status: number, value: unknown, text: string): ApiError {
  const body = (typeof value === "object" && value !== null ? value : {}) as {
    readonly message?: string;
    readonly code?: string;
    readonly failedCondition?: boolean;
  };
  if (status === 401 && sessionStore.get().signInRequired) {
    sessionStore.set({ ...sessionStore.get(), authenticated: false });
  }
  return new ApiError(
    body.message ?? (text.slice(0, 300) || `HTTP ${status}`),
    status,
    body.code ?? "",
    body.failedCondition,
  );
}

/** Reads the session; a service without the endpoint requires no tokens. */
export async function loadSession(): Promise<Session> {
  const session = await read<Session | string>("/ui/session").catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return openSession;
    throw error;
  });
  // A development server answers unknown paths with the page.
  const loaded = typeof session === "object" ? session : openSession;
  sessionStore.set(loaded);
  return loaded;
}

export type Credentials =
  | { readonly token: string }
  | { readonly username: string; readonly password: string }
  | NewPassword;

/** Creates the user with an invite token, or sets the password with a reset token. */
export type NewPassword = { readonly username: string; readonly password: string } & (
  | { readonly inviteToken: string; readonly fullName: string; readonly email: string }
  | { readonly resetToken: string }
);

export async function signIn(credentials: Credentials): Promise<void> {
  await send("/ui/session", { method: "POST", body: credentials });
  await loadSession();
}

export async function signOut(): Promise<void> {
  await send("/ui/session", { method: "DELETE", reads: true });
  await loadSession();
}

interface GraphqlResponse<T> {
  readonly data?: T | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: {
      readonly code?: number;
      readonly type?: string;
      /** The missing privilege. */
      readonly needs?: string;
    };
  }[];
}

async function sendGraphql<T>(query: string, variables: object, reads: boolean): Promise<T> {
  const { value } = await send<GraphqlResponse<T>>("/api/graphql", {
    body: { query, variables },
    reads,
  });
  const [error] = value.errors ?? [];
  if (error !== undefined) {
    const { code = 400, type = "", needs } = error.extensions ?? {};
    const message = needs === undefined ? error.message : `You may not do this: it needs ${needs}`;
    throw new ApiError(message, code, type);
  }
  return value.data as T;
}

export const queryGraphql = <T>(query: string, variables: object = {}): Promise<T> =>
  sendGraphql<T>(query, variables, true);

export const mutateGraphql = <T>(query: string, variables: object = {}): Promise<T> =>
  sendGraphql<T>(query, variables, false);
