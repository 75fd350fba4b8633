import { delimiter, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Environment,
  explainConfig,
  type Flags,
  readConfig,
} from "../../src/config/config.ts";
import { type Setting, settingKeys, settings, variableOf } from "../../src/config/settings.ts";
import { CatalogError } from "../../src/core/errors.ts";

/** The error text of a start with these settings. */
function rejection(flags: Flags, environment: Environment): string {
  try {
    readConfig(flags, environment);
  } catch (error) {
    if (error instanceof CatalogError) return error.text;
    throw error;
  }
  return "not rejected";
}

describe("settings", () => {
  test("settings have defaults that run the whole service from an empty directory", () => {
    expect(readConfig({}, {})).toEqual({
      host: "127.0.0.1",
      allowedHost: [],
      corsOrigin: [],
      port: 8080,
      streamsMax: 100,
      streamsPerUserMax: 20,
      data: resolve("data"),
      log: "embedded",
      aspects: "embedded",
      timeseries: "embedded",
      search: "embedded",
      graph: "embedded",
      kafka: "",
      roles: ["api", "projector", "feed"],
      storeName: "annals",
      storeCertificatesFile: "",
      model: resolve("avro"),
      modelExtension: [],
      urnNamespace: "li",
      recordPrefix: "com.linkedin",
      bodyBytesMax: 33_554_432,
      bodyMembersMax: 1_000_000,
      bodyDepthMax: 128,
      bodiesBytesMax: 32 * 1024 * 1024,
      responsesBytesMax: 128 * 1024 * 1024,
      aspectBytesMax: 16_000_000,
      urnBytesMax: 512,
      schemaFieldUrnBytesMax: 2048,
      cacheBytes: 134_217_728,
      operatorTokenFile: "",
      systemClientFile: "",
      metricsTokenFile: "",
      auth: "auto",
      signingKeyFile: "",
      secretKeyFile: "",
      token: "",
      tokenDurationMax: "NO_EXPIRY",
      tokenFile: "",
      readAuthorization: "off",
      writeAuthorization: "off",
      searchSecondsMax: 2,
      auditDays: 0,
      requestsPerSecondMax: 0,
      builtInEntities: "on",
      mcpWrites: "off",
      graphqlExplorer: "off",
      web: "on",
      projectorLagMax: 100_000,
      tracesEndpoint: "",
      onModelChange: "rebuild",
      verifyIntervalSeconds: 21_600,
      server: "",
      shutdownTimeoutSeconds: 30,
      logLevel: "info",
      logFormat: "auto",
    });
  });

  test("a setting comes from the flag, else the environment, else the default", () => {
    const environment = { ANNALS_PORT: "9000", ANNALS_HOST: "::1" };
    const { port, host, logLevel } = readConfig({ port: "9001" }, environment);
    expect({ port, host, logLevel }).toEqual({ port: 9001, host: "::1", logLevel: "info" });
    const sources = explainConfig({ port: "9001" }, environment).slice(0, 3);
    expect(sources).toEqual([
      { key: "host", value: "::1", source: "environment" },
      { key: "port", value: "9001", source: "flag" },
      { key: "data", value: resolve("data"), source: "default" },
    ]);
  });

  test("a wrong address of a store is rejected with the name of the setting", () => {
    const wrong = () => readConfig({ graph: "http://localhost:7474" }, {});
    expect(wrong).toThrow('--graph cannot be "http://localhost:7474"');
    expect(() => readConfig({ roles: "api,cook" }, {})).toThrow("--roles");
    expect(readConfig({ roles: "feed, api,feed" }, {}).roles).toEqual(["feed", "api"]);
  });

  test("settings are shown without passwords", () => {
    const environment = { ANNALS_GRAPH: "neo4j+s://ada:pe@rl@graph:7687" };
    const shown = explainConfig({}, environment).find(({ key }) => key === "graph");
    expect(shown?.value).toBe("neo4j+s://ada:***@graph:7687");
    const usual = explainConfig({ aspects: "postgres://ada:pearl@db/annals" }, {});
    expect(JSON.stringify(usual)).not.toContain("pearl");
  });

  test("the settings are frozen, including lists", () => {
    const config = readConfig({}, {});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.modelExtension)).toBe(true);
  });

  test("an empty variable is ignored", () => {
    expect(readConfig({}, { ANNALS_PORT: "" }).port).toBe(8080);
  });

  test("variables without the prefix are ignored", () => {
    expect(readConfig({}, { PORT: "1", MY_ANNALS_PORT: "2" }).port).toBe(8080);
  });

  test.each([
    ["64MiB", 67_108_864],
    ["64 MiB", 67_108_864],
    ["2GB", undefined],
    ["100MB", 100_000_000],
    ["5000", 5000],
    ["64mib", undefined],
    ["1.5MiB", undefined],
    ["-5000", undefined],
    ["99999999999999999999", undefined],
  ])("the size %j is parsed as %j", (given, expected) => {
    expect(settings.bodyBytesMax.kind.parse(given)).toBe(expected);
  });

  test.each([
    [
      "https://Catalog.Example.org:443, http://localhost:3000",
      "https://catalog.example.org,http://localhost:3000",
    ],
    ["http://[::1]:3000/", undefined],
    ["http://[::1]:3000", "http://[::1]:3000"],
    ["https://catalog.example.org/page", undefined],
    ["https://user@catalog.example.org", undefined],
    ["ftp://catalog.example.org", undefined],
    ["catalog.example.org", undefined],
    ["https://*.example.org", undefined],
    ["*", undefined],
    ["null", undefined],
    ["https://a.example,", undefined],
  ])("the origins %j are parsed as %j", (given, expected) => {
    expect(settings.corsOrigin.kind.parse(given)?.join(",")).toBe(expected);
  });

  test("a single text may list several directories", () => {
    const given = ["/models/a", "b"].join(delimiter);
    expect(readConfig({ modelExtension: given }, {}).modelExtension).toEqual([
      "/models/a",
      resolve("b"),
    ]);
  });

  test("the text of each default is parsed into the same value", () => {
    for (const key of settingKeys) {
      const { kind, fallback } = settings[key] as Setting<unknown>;
      const value = kind.parse(fallback);
      expect(value, key).not.toBeUndefined();
      expect(kind.parse(kind.show(value)), key).toEqual(value);
    }
  });
});

describe("the error of a wrong setting", () => {
  test("an error lists the names near an unknown variable", () => {
    expect(rejection({}, { ANNALS_PROT: "9000" })).toContain(
      'the environment sets "ANNALS_PROT", which is not a setting. Did you mean "ANNALS_PORT"',
    );
    expect(rejection({}, { ANNALS_ZZZZZZZZZZ: "1" })).toContain("annals -- settings");
  });

  test("an error has the name, the value and the allowed values", () => {
    expect(rejection({}, { ANNALS_PORT: "http" })).toBe(
      'ANNALS_PORT cannot be "http". Allowed: a whole number from 0 to 65,535',
    );
    expect(rejection({ port: "65536" }, {})).toBe(
      '--port cannot be "65536". Allowed: a whole number from 0 to 65,535',
    );
  });

  test.each([
    ["host", "a b"],
    ["port", "-1"],
    ["port", "8080.5"],
    ["data", " "],
    ["model", "a\0b"],
    ["modelExtension", `a${delimiter}`],
    ["urnNamespace", "l:i"],
    ["recordPrefix", "com..linkedin"],
    ["aspectBytesMax", "16000001"],
    ["projectorLagMax", "0"],
    ["logLevel", "INFO"],
  ] as const)("%s: %j", (key, given) => {
    expect(rejection({ [key]: given }, {})).toContain(`cannot be "${given}"`);
    expect(rejection({}, { [variableOf(key)]: given })).toContain(`${variableOf(key)} cannot be`);
  });
});
