/**
 * `npm start` and `npm run annals` in a clone: installs the packages where they are missing or
 * outdated, then runs the command. One process for both, since each start of Node takes time.
 */
import "./install.mjs";
import "./annals.mjs";
