/** Reads the metrics of the service: positions and health of log and views. */
import { read } from "./http.ts";

export interface ViewState {
  readonly name: string;
  readonly position: number;
  readonly lag: number;
  readonly failing: boolean;
  readonly stalled: boolean;
  readonly stale: boolean;
  readonly parked: number;
  readonly differences: number;
  readonly generation: number;
  readonly bytes: number | undefined;
}

export interface ServiceState {
  readonly logPosition: number;
  readonly logBytes: number | undefined;
  readonly logFailing: boolean;
  readonly views: readonly ViewState[];
}

const viewNames: readonly string[] = ["aspects", "timeseries", "graph", "search"];

export async function readServiceState(signal?: AbortSignal): Promise<ServiceState> {
  const text = await read<string>("/metrics", { signal, headers: { accept: "text/plain" } });
  return serviceStateOf(String(text));
}

export const logPosition = async (signal?: AbortSignal): Promise<number> =>
  (await readServiceState(signal)).logPosition;

/** Reads the text format of Prometheus. */
export function serviceStateOf(text: string): ServiceState {
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, view = "", value] =
      /^annals_(\w+?)(?:\{view="(\w+)"\})? ([-+\d.eE]+)$/.exec(line) ?? [];
    if (name !== undefined) values.set(`${name} ${view}`, Number(value));
  }
  const of = (name: string, view = ""): number | undefined => values.get(`${name} ${view}`);
  return {
    logPosition: of("log_position") ?? 0,
    logBytes: of("log_size_bytes"),
    logFailing: of("log_failing") === 1,
    views: viewNames.map((name) => ({
      name,
      position: of("view_position", name) ?? 0,
      lag: of("view_lag_records", name) ?? 0,
      failing: of("view_failing", name) === 1,
      stalled: of("view_stalled", name) === 1,
      stale: of("view_stale", name) === 1,
      parked: of("view_parked_entities", name) ?? 0,
      differences: of("view_differences", name) ?? 0,
      generation: of("view_generation", name) ?? 1,
      bytes: of("view_size_bytes", name),
    })),
  };
}

/** The state of a view in a word, and whether an operator has to act. */
export function conditionOf(view: ViewState): { readonly text: string; readonly level: string } {
  if (view.failing) return { text: "Failing", level: "bad" };
  if (view.stalled) return { text: "Stalled", level: "bad" };
  if (view.differences > 0) return { text: "Differs from the log", level: "bad" };
  if (view.parked > 0) return { text: `${view.parked} parked`, level: "warn" };
  if (view.stale) return { text: "Waits for a rebuild", level: "warn" };
  if (view.lag > 0) return { text: `${view.lag.toLocaleString("en")} records behind`, level: "" };
  return { text: "Up to date", level: "good" };
}
