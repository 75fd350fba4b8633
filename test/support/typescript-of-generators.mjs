/**
 * Preload (`node --import`) for generators of clients. They need the JavaScript API of TypeScript 5, which the
 * TypeScript of this project does not have: the one that oazapfts depends on is loaded in its place.
 */
import { registerHooks } from "node:module";

const parentURL = import.meta.resolve("oazapfts");

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "typescript"
      ? next(specifier, { ...context, parentURL })
      : next(specifier, context),
});
