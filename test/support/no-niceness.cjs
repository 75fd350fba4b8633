/**
 * Keeps all threads of a test at the same priority: on a busy machine, threads at a low priority, and
 * tests that wait for them, would take very long. Every process and thread of a test loads it first.
 */
const { syncBuiltinESMExports } = require("node:module");
const os = require("node:os");

os.setPriority = () => {};
syncBuiltinESMExports();
