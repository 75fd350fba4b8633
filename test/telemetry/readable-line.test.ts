import { describe, expect, test } from "vitest";
import { readableLine } from "../../src/telemetry/readable-line.ts";

const time = "2026-11-26T10:12:03.456Z";
const clock = new Date(time).toTimeString().slice(0, 8);
const shown = (fields: object): string =>
  readableLine(JSON.stringify({ level: "info", time, ...fields }));

describe("a log line as text", () => {
  test("a line has the time of day, the level, the message and the fields", () => {
    expect(shown({ msg: "view catches up with the log", view: "aspects", position: 7 })).toBe(
      `${clock} info  view catches up with the log view=aspects position=7\n`,
    );
  });

  test("a line quotes values with spaces and escapes control characters", () => {
    expect(shown({ msg: "ready", data: "/my data", name: "a\u001b[2Jb", list: ["x"] })).toBe(
      `${clock} info  ready data="/my data" name="a\\u001b[2Jb" list=["x"]\n`,
    );
  });

  test("the stack of an error follows the line", () => {
    const err = { type: "Error", message: "no", stack: "Error: no\n    at f" };
    expect(shown({ level: "error", err, msg: "could not close" })).toBe(
      `${clock} error could not close\n  Error: no\n      at f\n`,
    );
  });

  test("an error without a stack is shown as JSON", () => {
    expect(shown({ err: "no" })).toBe(`${clock} info \n  "no"\n`);
  });
});
