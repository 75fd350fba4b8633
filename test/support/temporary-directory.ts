/** A directory for one test, removed when the test (or its block) ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryDirectory extends Disposable {
  readonly path: string;
}

export function temporaryDirectory(name = "annals"): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
