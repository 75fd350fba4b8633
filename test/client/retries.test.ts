/** Which requests the client sends again, and when. */
import { expect, test, vi } from "vitest";
import { createAnnalsClient } from "../../src/client/client.ts";
import { retryingFetch } from "../../src/client/retries.ts";

const address = "http://127.0.0.1:1";
const reply = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ message: "later", code: "unavailable" }, { status, headers });

/** Answers with each of the replies in turn; an Error is thrown. */
function answering(...replies: readonly (Response | Error)[]) {
  const sent: Request[] = [];
  const left = [...replies];
  const send = async (request: Request): Promise<Response> => {
    sent.push(request);
    const next = left.shift() ?? reply(200);
    if (next instanceof Error) throw next;
    return next;
  };
  return { sent, send };
}

const unreachable = new TypeError("fetch failed");
const fast = { retryDelayMs: 1 };

test("a read is sent again after 503 and after a lost connection", async () => {
  const { sent, send } = answering(reply(503), unreachable);
  const response = await retryingFetch(send, fast)(new Request(`${address}/config`));
  expect([response.status, sent.length]).toEqual([200, 3]);
});

test("a read fails after the last attempt", async () => {
  const { sent, send } = answering(reply(503), reply(503), reply(503));
  const fetch = retryingFetch(send, { ...fast, attemptsMax: 2 });
  expect((await fetch(new Request(address))).status).toBe(503);
  expect(sent).toHaveLength(2);
});

test("a write without an idempotency key is sent again after 429 alone", async () => {
  const write = () => new Request(address, { method: "POST", body: "{}" });
  const unavailable = answering(reply(503));
  expect((await retryingFetch(unavailable.send, fast)(write())).status).toBe(503);
  const lost = answering(unreachable);
  await expect(retryingFetch(lost.send, fast)(write())).rejects.toBe(unreachable);
  const limited = answering(reply(429));
  expect((await retryingFetch(limited.send, fast)(write())).status).toBe(200);
  expect(await limited.sent[1]?.text()).toBe("{}");
});

test("a proposal has one idempotency key in all of its attempts", async () => {
  const { sent, send } = answering(unreachable, reply(503));
  const client = createAnnalsClient({ address, fetch: send, ...fast });
  await client.POST("/entities?action=delete", { body: { urn: "urn:li:tag:x" } });
  const keys = new Set(sent.map(({ headers }) => headers.get("idempotency-key")));
  expect([sent.length, keys.size, [...keys][0]]).toEqual([3, 1, expect.stringMatching(/^.{36}$/)]);
});

test("the delay is that of Retry-After, up to the longest delay", async () => {
  vi.useFakeTimers();
  try {
    const { sent, send } = answering(
      reply(429, { "retry-after": "3" }),
      reply(429, { "retry-after": "900" }),
    );
    const done = retryingFetch(send, { retryDelayMsMax: 5_000 })(new Request(address));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await done).status).toBe(200);
  } finally {
    vi.useRealTimers();
  }
});

test("a TLS error is reported at once, and a wait with its reason", async () => {
  const plain = new TypeError("fetch failed", {
    cause: Object.assign(new Error("wrong version"), { code: "ERR_SSL_WRONG_VERSION_NUMBER" }),
  });
  const { sent, send } = answering(reply(503), plain);
  const reasons: string[] = [];
  const fetch = retryingFetch(send, { ...fast, onRetry: (reason) => reasons.push(reason) });
  await expect(fetch(new Request(address))).rejects.toBe(plain);
  expect([sent.length, reasons]).toEqual([2, ["status 503: later"]]);
});

test("an aborted request is not sent again", async () => {
  const { sent, send } = answering(reply(503));
  const signal = AbortSignal.abort(new Error("enough"));
  const response = retryingFetch(send, fast)(new Request(address, { signal }));
  await expect(response).rejects.toThrow("enough");
  expect(sent).toHaveLength(1);
});
