/** Time zones in requests. */
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";

/** An offset as Java has it in the ids of zones: Z, +2, GMT+02:00. */
const OFFSET = /^(?:Z|(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?)$/;

/**
 * The time zone by its name in the IANA database, or by its offset (+02:00). Throws `malformed` for any other
 * text. `name`: of the parameter, for the message.
 */
export function checkedTimeZone(text: string, name = "timeZone"): string {
  const [found, sign = "+", hours = "0", minutes = "00"] = OFFSET.exec(text) ?? [];
  const zone = found === undefined ? text : `${sign}${hours.padStart(2, "0")}:${minutes}`;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch (cause) {
    throw new CatalogError("malformed", `${name} is "${text.slice(0, 120)}"`, {
      hint: "Send a time zone of the IANA database, such as Europe/Berlin",
      cause,
    });
  }
}

/** The error of the schedule of an ingestion source; a schedule without a change is valid. */
export function rejectionOfSchedule(
  { schedule }: JsonObject,
  { previous }: { readonly previous?: JsonObject | undefined },
): CatalogError | undefined {
  const zone = jsonObject(schedule) ? schedule.timezone : undefined;
  const before = jsonObject(previous?.schedule) ? previous.schedule.timezone : undefined;
  if (typeof zone !== "string" || zone === before) return undefined;
  try {
    checkedTimeZone(zone, "schedule.timezone");
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const message = `aspect "dataHubIngestionSourceInfo", /schedule/timezone: ${error.message}`;
    return new CatalogError("invalid", message, { hint: error.hint });
  }
}
