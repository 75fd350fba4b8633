/** A small client with the requests that most tests send. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of the wire are looked into freely by tests.
  readonly body: any;
  readonly position: number | undefined;
  readonly headers: Headers;
}

export interface Client {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** One UPSERT through ingestProposal. */
  upsert(urn: string, aspect: string, value: unknown, more?: object): Promise<Reply>;
  get(path: string): Promise<Reply>;
}

export function createClient(address: string): Client {
  const call: Client["call"] = async (method, path, body, headers = {}) => {
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    const position = answer.headers.get("x-annals-position");
    return {
      status: answer.status,
      body: text === "" ? "" : parse(text),
      position: position === null ? undefined : Number(position),
      headers: answer.headers,
    };
  };
  return {
    call,
    get: (path) => call("GET", path),
    upsert: (urn, aspect, value, more = {}) =>
      call("POST", "/aspects?action=ingestProposal", {
        proposal: proposal(urn, aspect, value, more),
      }),
  };
}

/** A proposal in its wire form. */
export const proposal = (urn: string, aspect: string, value: unknown, more: object = {}) => ({
  entityType: urn.split(":")[2],
  entityUrn: urn,
  changeType: "UPSERT",
  aspectName: aspect,
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
  ...more,
});

export const encoded = (urn: string): string => encodeURIComponent(urn);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
