/**
 * How messages name a command of this project: as a user types it in the folder of a clone, or in the
 * folder with the npm package, which has the sources as JavaScript. docker/README.md says what it is
 * in a container.
 */
export const isBuilt = import.meta.url.endsWith(".js");

export const ownCommand = (args: string): string =>
  isBuilt ? `npx annals ${args}` : `npm run -s annals -- ${args}`;

/** Starts the service. */
export const startCommand = isBuilt ? "npx annals serve" : "npm start";
