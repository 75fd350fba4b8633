/** Waits for views that have applied every record of the log. */
import type { Client } from "./client.ts";
import { operatorOf } from "./operator.ts";

/** Waits until every view has reached the log's head and no job runs. */
export async function caughtUp(
  on: { client: Client; directory: string },
  { secondsMax = 60 } = {},
): Promise<void> {
  const operator = operatorOf(on);
  for (const until = Date.now() + secondsMax * 1_000; Date.now() < until; ) {
    const { views, jobsRunning } = await operator.value("getStatus");
    const lags = Object.values(views as Record<string, { lagRecords: number }>);
    if (jobsRunning === 0 && lags.every(({ lagRecords }) => lagRecords === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the views do not catch up");
}
