/**
 * Figures, and ratios against a baseline of the same run: `npm run bench [-- part … [--large]]`.
 *
 * The service and the bare echo are processes of their own, loaded in turns by the same client on
 * the same machine, so that a ratio says what the work costs beyond parsing and answering a body.
 */
import { benchIngest } from "./ingest.ts";
import { benchReads } from "./reads.ts";
import { benchRegrow } from "./regrow.ts";
import { benchSearch } from "./search.ts";
import { benchTogether } from "./together.ts";

const parts: Readonly<Record<string, () => Promise<void>>> = {
  ingest: benchIngest,
  reads: benchReads,
  regrow: benchRegrow,
  search: () => benchSearch(large ? 1_000_000 : 100_000),
  together: benchTogether,
};

const large = process.argv.includes("--large");
const asked = process.argv.slice(2).filter((argument) => argument !== "--large");
const unknown = asked.filter((name) => parts[name] === undefined);
if (unknown.length > 0) {
  console.error(`no part ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n## ${name}`);
  await run();
}
