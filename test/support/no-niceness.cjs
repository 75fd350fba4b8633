/**
 * Threads that give way to others would wait for as long as the machine is busy, and tests for them:
 * in tests they are as others. Loaded before anything else by every process and thread of a test.
 */
const { syncBuiltinESMExports } = require("node:module");
const os = require("node:os");

os.setPriority = () => {};
syncBuiltinESMExports();
