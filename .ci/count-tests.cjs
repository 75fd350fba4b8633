/**
 * What reports of vitest say. `--failed REPORT` prints the files with failures, one in a line;
 * `REPORT [AGAIN]` prints the counts of all tests, where what AGAIN says of a file is what counts, and
 * names those that passed only then. Ends with 1 when something failed, or nothing ran.
 */
const { readFileSync } = require("node:fs");

const [, , ...given] = process.argv;
const onlyFailed = given[0] === "--failed";
const [first, again] = (onlyFailed ? given.slice(1) : given).map(filesIn);

/** The report's files by their names; empty where there is no report. */
function filesIn(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return new Map(testResults.map((file) => [file.name, file]));
  } catch {
    return new Map();
  }
}

const testsOf = (file, status) =>
  file.assertionResults.filter((one) => one.status === status).map((one) => one.fullName);

/** A file that could not even be loaded counts as one failed test. */
const failuresOf = (file) => {
  const failed = testsOf(file, "failed");
  return failed.length === 0 && file.status === "failed" ? [file.name] : failed;
};

/** The first line of what the failed test, or the file, reported. */
function causeOf(file, name) {
  const one = file.assertionResults.find(({ fullName }) => fullName === name);
  const text = one?.failureMessages[0] ?? file.message ?? "";
  const [line = ""] = text.split("\n");
  return line === "" ? "" : ` (${line.slice(0, 300)})`;
}

if (onlyFailed) {
  for (const file of first.values()) if (failuresOf(file).length > 0) console.log(file.name);
} else {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const [name, before] of first) {
    const file = again?.get(name) ?? before;
    const failures = failuresOf(file);
    for (const one of failuresOf(before)) {
      if (failures.includes(one)) continue;
      console.log(`passed only when tried again: ${one}${causeOf(before, one)}`);
    }
    failed += failures.length;
    passed += testsOf(file, "passed").length;
    skipped += file.assertionResults.length - passedOrFailed(file);
  }
  if (first.size === 0) failed = 1;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function passedOrFailed(file) {
  return testsOf(file, "passed").length + testsOf(file, "failed").length;
}
