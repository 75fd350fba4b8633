import { describe, expect, test } from "vitest";
import { errorHeaderOf, readProtocol } from "../../src/http/request/protocol.ts";

const REFERENCE = "x-restli-protocol-version";
const INTERFACE = "x-framework-protocol-version";

describe("readProtocol", () => {
  test("without a header, uses 1.0.0 in the form of Annals, with + unchanged", () => {
    expect(readProtocol({})).toEqual({
      version: "1.0.0",
      wireForm: "annals",
      plusIsBlank: false,
      echo: [REFERENCE],
    });
  });

  test.each(["1.0.0", "1.0", "1", "1.5.2", "2.0.0", "2.0", "2"])("accepts %s", (version) => {
    expect(readProtocol({ [REFERENCE]: version })).toMatchObject({ version, wireForm: "datahub" });
    expect(readProtocol({ [INTERFACE]: version })).toMatchObject({ version, wireForm: "annals" });
    expect(readProtocol({ [REFERENCE]: version }).fault).toBeUndefined();
  });

  test.each(["0.9.9", "2.0.1", "2.1", "9.0.0", "3", "two", "", "1.0.0.0", "-1", "2.0.0, 1.0.0"])(
    "rejects %j with DataHub's message, and returns it",
    (version) => {
      const protocol = readProtocol({ [REFERENCE]: version });
      expect(protocol.fault).toMatchObject({
        code: "malformed",
        message: `Rest.li protocol version ${version} used by the client is not supported!`,
      });
      expect(protocol.version).toBe(version);
    },
  );

  test("decodes + as a blank only for an explicit 1.0.0", () => {
    expect(readProtocol({ [REFERENCE]: "1.0.0" }).plusIsBlank).toBe(true);
    expect(readProtocol({ [INTERFACE]: "1" }).plusIsBlank).toBe(true);
    expect(readProtocol({ [REFERENCE]: "2.0.0" }).plusIsBlank).toBe(false);
    expect(readProtocol({ [REFERENCE]: "1.0.1" }).plusIsBlank).toBe(false);
  });

  test("returns the version in both header names, if the request used both or the framework's", () => {
    expect(readProtocol({ [REFERENCE]: "2.0.0" }).echo).toEqual([REFERENCE]);
    expect(readProtocol({ [INTERFACE]: "2.0.0" }).echo).toEqual([REFERENCE, INTERFACE]);
    expect(readProtocol({ [INTERFACE]: "2.0" }).echo).toEqual([REFERENCE, INTERFACE]);
    expect(readProtocol({ [INTERFACE]: "1.0", [REFERENCE]: "1.0" }).echo).toEqual([
      REFERENCE,
      INTERFACE,
    ]);
  });

  test("accepts both headers if they agree, and rejects them otherwise", () => {
    expect(readProtocol({ [REFERENCE]: "2.0.0", [INTERFACE]: "2.0.0" })).toMatchObject({
      version: "2.0.0",
      wireForm: "datahub",
    });
    expect(readProtocol({ [REFERENCE]: "2.0.0", [INTERFACE]: "1.0.0" }).fault).toBeDefined();
  });

  test("returns at most 40 characters of an invalid version", () => {
    expect(readProtocol({ [REFERENCE]: "x".repeat(5000) }).version).toHaveLength(40);
  });
});

test("errors below 2.0.0 are marked by the older header", () => {
  expect(errorHeaderOf("1.0.0")).toBe("x-linkedin-error-response");
  expect(errorHeaderOf("2.0.0")).toBe("x-restli-error-response");
  expect(errorHeaderOf("9.0.0")).toBe("x-restli-error-response");
});
