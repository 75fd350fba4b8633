/**
 * A process that appends to a log: `appending-process.ts FILE NAME CALLS`. Sixteen callers append
 * to two streams at a time; each acknowledged call is printed as a line with its number and its
 * last position. Tests kill the process.
 */
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { entry } from "../contract/change-log-driver.ts";

const [file = "", name = "", calls = "0"] = process.argv.slice(2);
const log = await openSqliteChangeLog({ file });
let next = 0;

async function call(): Promise<void> {
  while (next < Number(calls)) {
    const number = next++;
    const answers = await log.append([
      entry(`${name} left ${number % 10}`, "any", `${name} ${number} a`, `${name} ${number} b`),
      entry(`${name} right ${number % 7}`, "any", `${name} ${number} c`),
    ]);
    process.stdout.write(`${number} ${answers[1]?.position}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, call));
await log.close();
