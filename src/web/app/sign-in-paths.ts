/** Pages that need no session: they begin one. */

const paths: ReadonlySet<string> = new Set(["/ui/signin", "/ui/signup", "/ui/reset"]);

export const beginsSession = (path: string): boolean => paths.has(path);
