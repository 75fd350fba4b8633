/** The tables of all families. */
import { assert } from "../../../core/errors.ts";
import type { EntityFields, Mapping, ValueFields } from "../mapping.ts";
import { chartsAndJobs } from "./charts-and-jobs.ts";
import { datasets } from "./datasets.ts";
import { governance } from "./governance.ts";
import { machineLearning } from "./machine-learning.ts";
import { organisation } from "./organisation.ts";
import { people } from "./people.ts";
import { shared } from "./shared.ts";

const families: readonly Mapping[] = [
  shared,
  datasets,
  chartsAndJobs,
  machineLearning,
  organisation,
  people,
  governance,
];

/** By the name of the entity type in the schema; `Entity` holds the shared fields. */
export const entityMappings: Readonly<Record<string, EntityFields>> = joined(
  families.map(({ entities }) => entities ?? {}),
);

/** By the name of the type in the schema. */
export const valueMappings: Readonly<Record<string, ValueFields>> = joined(
  families.map(({ values }) => values ?? {}),
);

function joined<Fields>(tables: readonly Readonly<Record<string, Fields>>[]) {
  const all: Record<string, Fields> = {};
  for (const [typename, fields] of tables.flatMap((table) => Object.entries(table))) {
    assert(!Object.hasOwn(all, typename), `${typename} is mapped in one family`);
    all[typename] = fields;
  }
  return all;
}
