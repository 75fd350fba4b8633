/** A process that checks the indexes of one log, reports what it found and ends (index-check.ts). */
import { reportFinding } from "../../../storage/sqlite/check-process.ts";
import { findIndexDamage } from "./index-check.ts";

reportFinding(findIndexDamage);
