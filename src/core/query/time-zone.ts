/** Time zones in requests. */
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
