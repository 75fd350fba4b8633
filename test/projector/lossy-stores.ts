/** Stores of the staging thread in tests: one of the views loses an entity. */
import { openLogReader } from "../../src/app/open-log.ts";
import { foldedViews } from "../../src/app/store-locations.ts";
import { openViews as openAll, type StoresConfig } from "../../src/app/stores.ts";
import type { View } from "../../src/projector/sink.ts";

export { foldedViews, openLogReader };

export interface LossyStores extends StoresConfig {
  readonly loses: string | undefined;
}

export async function openViews(
  config: LossyStores,
  options: Parameters<typeof openAll>[1],
): Promise<readonly View[]> {
  return (await openAll(config, options)).map((view) =>
    view.name === config.loses ? lossy(view) : view,
  );
}

/** Drops all writes of the first entity in the first batch. */
function lossy(view: View): View {
  let lost: string | undefined;
  const { sink } = view;
  const urnOf = (write: unknown) => (write as { readonly urn?: string }).urn;
  const apply: typeof sink.apply = (writes, upTo) => {
    if (lost !== undefined) return sink.apply(writes, upTo);
    lost = urnOf(writes[0]);
    return sink.apply(
      writes.filter((write) => urnOf(write) !== lost),
      upTo,
    );
  };
  return { ...view, sink: { ...sink, apply } };
}
