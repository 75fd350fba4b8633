/** Calls of the operations of a service, with the admin token from its data directory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply } from "./client.ts";
import type { RunningService } from "./running-service.ts";

export interface Operator {
  /** Sends a body that is a string unchanged. */
  act(action: string, body?: object | string, headers?: Record<string, string>): Promise<Reply>;
  /** The result of an action that must succeed; repeats the request while too many jobs run. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member of a response.
  value(action: string, body?: object, headers?: Record<string, string>): Promise<any>;
  /** Waits for the end of a task; returns its status. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  ended(task: string): Promise<any>;
}

export const tokenOf = (directory: string): Record<string, string> => ({
  Authorization: `Bearer ${readFileSync(join(directory, "operator.token"), "utf8").trim()}`,
});

const endedMsMax = 60_000;
const admittedMsMax = 60_000;

export function operatorOf(service: Pick<RunningService, "client" | "directory">): Operator {
  const act: Operator["act"] = (action, body = {}, headers = {}) =>
    service.client.call("POST", `/operations?action=${action}`, body, {
      ...tokenOf(service.directory),
      ...headers,
    });
  const value: Operator["value"] = async (action, body, headers) => {
    const until = Date.now() + admittedMsMax;
    let reply = await act(action, body, headers);
    while (reply.status === 429 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      reply = await act(action, body, headers);
    }
    if (reply.status !== 200) throw new Error(`${action}: ${JSON.stringify(reply.body)}`);
    return reply.body.value;
  };
  return {
    act,
    value,
    async ended(task) {
      const until = Date.now() + endedMsMax;
      for (;;) {
        const reply = JSON.parse(await value("getEsTaskStatus", { task }));
        if (reply.completed) return { ...reply, status: JSON.parse(reply.status) };
        if (Date.now() > until) throw new Error(`${task} still runs: ${JSON.stringify(reply)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
