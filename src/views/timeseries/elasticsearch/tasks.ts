/**
 * Reads the state of a delete-by-query task by its id ("node:number"). The server keeps the state of
 * ended tasks.
 */
import { type SearchServer, statusOf } from "../../../storage/elasticsearch/client.ts";
import type { StoreTask } from "../timeseries-table.ts";

interface ServerTask extends StoreTask {
  readonly deleted: number;
}

/** Undefined for one that the server does not know. */
export async function findTask(server: SearchServer, id: string): Promise<ServerTask | undefined> {
  try {
    const answer = await server.send("read", (client) => client.tasks.get({ task_id: id }));
    const { completed, task, response, error } = answer as Answer;
    const status = response ?? task.status;
    const failure = error?.reason ?? response?.failures?.[0];
    return {
      id,
      completed,
      runNanos: task.running_time_in_nanos,
      status: JSON.stringify(task.status ?? {}),
      deleted: status?.deleted ?? 0,
      ...(failure !== undefined && {
        failure: typeof failure === "string" ? failure : JSON.stringify(failure).slice(0, 300),
      }),
    };
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 400) return undefined;
    throw error;
  }
}

/** Response members that the client's types lack. */
interface Answer {
  readonly completed: boolean;
  readonly task: { readonly running_time_in_nanos: number; readonly status?: Counts };
  readonly response?: Counts & { readonly failures?: readonly unknown[] };
  readonly error?: { readonly reason: string };
}

interface Counts {
  readonly deleted?: number;
}
