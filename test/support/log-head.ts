/** The position of the head of a service's log, as the service reports it. */
import type { Client } from "./client.ts";

export async function logHead(client: Client): Promise<number> {
  const { body } = await client.get("/metrics");
  const [, head] = /^annals_log_position (\d+)$/m.exec(String(body)) ?? [];
  if (head === undefined) throw new Error(`there is no log position in ${String(body)}`);
  return Number(head);
}
