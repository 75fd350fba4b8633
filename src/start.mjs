/**
 * `npm start` and `npm run annals` in a clone: installs the packages where they are missing or
 * outdated, then runs the command. One process for both, since each start of Node takes time.
 * The service then builds the browser application if its sources have changed.
 */
process.env.ANNALS_WEB ||= "build";
await import("./install.mjs");
// A static import would not wait for the installation.
await import("./annals.mjs");
