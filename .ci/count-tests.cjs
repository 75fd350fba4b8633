/**
 * Prints the counts of the tests in a report of vitest. Ends with 1 when a test failed, or none ran.
 */
const { readFileSync } = require("node:fs");

const [, , report] = process.argv;

/** The files of the report; none where there is no report. */
function filesIn(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return [];
  }
}

const files = filesIn(report);
const statuses = files.flatMap((file) => {
  const own = file.assertionResults.map(({ status }) => status);
  // A file that could not even be loaded counts as one failed test.
  return file.status === "failed" && !own.includes("failed") ? [...own, "failed"] : own;
});
const count = (status) => statuses.filter((one) => one === status).length;
const passed = count("passed");
const skipped = statuses.length - passed - count("failed");
const failed = files.length === 0 ? 1 : count("failed");
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
