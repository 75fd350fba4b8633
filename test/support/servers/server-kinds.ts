/** The kinds of servers that need no container, by name. */
import type { StoreName } from "../stores.ts";
import { elasticsearch } from "./elasticsearch.ts";
import { kafka } from "./kafka.ts";
import { neo4j } from "./neo4j.ts";
import { opensearch } from "./opensearch.ts";
import { postgres } from "./postgres.ts";
import type { ServerKind } from "./server-kind.ts";

export type PackagedStore = Exclude<StoreName, "eventstoredb">;

/** Rejects with Unavailable before any download, where the reason is known by then. */
export const serverKinds: Readonly<Record<PackagedStore, () => Promise<ServerKind>>> = {
  postgres,
  neo4j,
  kafka,
  elasticsearch,
  opensearch,
};
