import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordBytesMax } from "../../src/log/change-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { changeLogContract } from "../contract/change-log.contract.ts";

const createDirectory = (): string => mkdtempSync(join(tmpdir(), "annals-log-"));

changeLogContract("sqlite", {
  async createPlace() {
    const directory = createDirectory();
    const file = join(directory, "log.sqlite");
    return {
      open: () => openSqliteChangeLog({ file }),
      remove: () => rm(directory, { recursive: true }),
    };
  },
  recordBytesMax,
  supports: { atomicAcrossStreams: true, gaplessPositions: true, idsUnderAnyExpectation: true },
});
