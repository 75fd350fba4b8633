/** The selection of the reader in the graph of lineage: its path is highlighted. */

import type { LineagePath } from "../../../api/lineage.ts";
import type { ColumnRef } from "./column-urn.ts";

export type Focus =
  | { readonly kind: "entity"; readonly urn: string }
  | { readonly kind: "column"; readonly column: ColumnRef }
  | { readonly kind: "paths"; readonly paths: readonly LineagePath[] };
