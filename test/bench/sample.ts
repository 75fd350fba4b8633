/** Realistic metadata of any amount: about 400 bytes a value. */
import { proposal } from "../support/client.ts";

export const urnOf = (n: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.domain_${n % 97}.schema_${n % 13}.table_${n},PROD)`;

const owner = (n: number) => ({ owner: `urn:li:corpuser:user_${n % 500}`, type: "DATAOWNER" });

/** Value number `generation` of the properties of dataset n. */
export const propertiesOf = (n: number, generation: number) => ({
  name: `table_${n}`,
  description: `Table ${n} holds one row for every event of kind ${n % 31}, as of edition ${generation}. It is loaded daily and kept for two years.`,
  customProperties: { team: `team-${n % 40}`, generation: String(generation), retention: "P2Y" },
  tags: [],
});

export const ownershipOf = (n: number) => ({
  owners: [owner(n), owner(n + 1), owner(n + 2)],
  lastModified: { time: 1_700_000_000_000 + n, actor: "urn:li:corpuser:loader" },
});

export const profileOf = (n: number, generation: number) => ({
  timestampMillis: 1_700_000_000_000 + generation * 3_600_000,
  rowCount: n + generation,
  columnCount: 12,
});

export const single = (n: number, generation: number): string =>
  JSON.stringify({
    proposal: proposal(urnOf(n), "datasetProperties", propertiesOf(n, generation)),
  });

/** One request with `size` proposals, half properties and half ownership. */
export const batch = (first: number, size: number, generation: number): string =>
  JSON.stringify({
    proposals: Array.from({ length: size }, (_, i) => {
      const n = first + (i >> 1);
      return i % 2 === 0
        ? proposal(urnOf(n), "datasetProperties", propertiesOf(n, generation))
        : proposal(urnOf(n), "ownership", ownershipOf(n + generation));
    }),
  });
