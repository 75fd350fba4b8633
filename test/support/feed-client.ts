/** A subscriber of /changes for tests: reads events one by one, and can disconnect. */

export interface FedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member of a change.
  readonly data: any;
}

export interface FeedClient {
  readonly response: Response;
  /** The next event that has data; undefined at the end. */
  next(): Promise<FedEvent | undefined>;
  take(count: number): Promise<readonly FedEvent[]>;
  /** The id from which a browser would resume. */
  lastId(): string | undefined;
  leave(): void;
}

export async function follow(
  url: string,
  headers: Record<string, string> = {},
): Promise<FeedClient> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { Accept: "text/event-stream", ...headers },
    signal: leaving.signal,
  });
  const blocks = blocksOf(response);
  let lastId: string | undefined;

  async function next(): Promise<FedEvent | undefined> {
    for (;;) {
      const { value: block, done } = await blocks.next();
      if (done === true) return undefined;
      const fields = new Map<string, string>();
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
      }
      lastId = fields.get("id") ?? lastId;
      const data = fields.get("data");
      if (data === undefined) continue;
      return { id: fields.get("id"), event: fields.get("event"), data: JSON.parse(data) };
    }
  }

  return {
    response,
    next,
    async take(count) {
      const events: FedEvent[] = [];
      while (events.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`the feed ended after ${events.length} events`);
        events.push(event);
      }
      return events;
    },
    lastId: () => lastId,
    leave: () => leaving.abort(),
  };
}

/** The text between empty lines. */
async function* blocksOf(response: Response): AsyncGenerator<string, undefined> {
  if (response.body === null) return undefined;
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
  return undefined;
}
