/**
 * The house rules, as data. tidier.ts applies them; a finding says which rule and what to do instead.
 *
 * A path or package in `mayImport` allows everything that begins with it. Node's own modules are
 * "node:", except the drivers among them, which are named.
 */

/** The modules that the files of a folder may import; the longest key that fits a file counts. */
export const directions: Readonly<Record<string, readonly string[]>> = {
  "src/lib/": ["fastest-levenshtein", "lru-cache"],
  "src/core/": ["src/lib/"],
  "projections/": [
    "src/core/",
    "src/lib/",
    "type src/views/aspects/aspect-table.ts",
    "type src/views/timeseries/timeseries-table.ts",
    "type src/views/graph/graph.ts",
    "type src/views/search/search.ts",
    "type src/feed/change-event.ts",
    "type src/model/model.ts",
    "type src/projector/sink.ts",
  ],

  // Ports, and code that serves all adapters of a port.
  "src/log/": ["src/core/", "src/lib/", "node:", "avsc"],
  "src/storage/": ["src/core/", "src/lib/", "src/projector/", "node:", "dataloader"],
  "src/projector/": [
    ...["src/core/", "src/lib/", "src/log/", "src/storage/view-origin.ts", "src/telemetry/"],
    ...["src/storage/thread-priority.ts", "node:", "lru-cache"],
  ],
  "src/views/": [
    ...["src/core/", "src/lib/", "src/projector/sink.ts"],
    "type src/projector/verify/view-rows.ts",
  ],
  // The projector's thread opens the stores for itself: handles do not cross threads.
  "src/projector/thread/projector-thread.ts": [
    ...["src/core/", "src/lib/", "src/log/", "src/projector/", "src/app/stores.ts", "node:"],
    "src/storage/thread-priority.ts",
  ],
  "src/projector/rebuild/staging-thread.ts": [
    ...["src/core/", "src/lib/", "src/log/", "src/projector/", "src/app/stores.ts", "node:"],
  ],

  "src/model/": ["src/core/", "src/lib/", "node:", "ajv", "avsc"],
  "src/catalog/": [
    "src/core/",
    "src/lib/",
    "src/model/",
    "src/log/",
    "src/projector/",
    "src/views/",
    "src/feed/platform-events.ts",
    "src/feed/previous-values.ts",
    "node:",
    "fastest-levenshtein",
    "lru-cache",
  ],

  "src/jobs/": [
    "src/core/",
    "src/lib/",
    "src/model/",
    "src/log/",
    "src/projector/",
    "src/views/aspects/",
    "src/views/timeseries/",
    "type src/auth/audit.ts",
    "type src/catalog/catalog.ts",
    "src/config/secret-text.ts",
    "node:",
    "lru-cache",
  ],
  "src/auth/": [
    "src/core/",
    "src/lib/",
    "src/config/secret-text.ts",
    "type src/catalog/catalog.ts",
    "type src/catalog/access/access-filter.ts",
    "type src/model/model.ts",
    "type src/views/search/search.ts",
    "node:",
    "jose",
    "lru-cache",
  ],

  "src/feed/": [
    "src/core/",
    "src/lib/",
    "src/log/",
    "src/projector/",
    "type src/catalog/catalog.ts",
    "type src/views/aspects/aspect-table.ts",
    "type src/views/graph/graph.ts",
    "type src/model/model.ts",
    "node:",
    "avsc",
  ],

  // The body thread: parses large request bodies like the server and validates them like the catalog.
  "src/bodies/": [
    "src/core/",
    "src/lib/",
    "src/catalog/",
    "src/model/",
    "src/http/",
    "type src/config/config.ts",
    "node:",
    "type ajv",
  ],

  "src/openlineage/": ["src/core/", "src/lib/", "type src/catalog/catalog.ts", "node:", "ajv"],

  // Interfaces.
  "src/http/": [
    "src/core/",
    "src/lib/",
    "type src/jobs/operations.ts",
    "src/jobs/restore/restore-response.ts",
    "type src/auth/audit.ts",
    "type src/auth/sign-in/sign-in.ts",
    "src/auth/rate-limits.ts",
    "type src/auth/tokens/authentication.ts",
    "type src/auth/policies/authority.ts",
    "src/auth/policies/privileges.ts",
    "type src/graphql/graphql-server.ts",
    "type src/mcp/mcp-server.ts",
    "src/catalog/catalog.ts",
    "src/openlineage/lazy-accept-event.ts",
    "type src/feed/schema-registry.ts",
    "type src/feed/event-texts.ts",
    "type src/feed/topic-offsets.ts",
    "src/feed/topic-names.ts",
    "type src/telemetry/logger.ts",
    "node:",
    "ajv",
    "fastify",
    "secure-json-parse",
  ],
  "src/graphql/": [
    "src/core/",
    "src/lib/",
    "src/auth/",
    "type src/catalog/catalog.ts",
    "node:",
    "graphql",
    "graphql-helix",
    "lru-cache",
  ],
  "src/mcp/": [
    "src/core/",
    "src/lib/",
    "type src/catalog/catalog.ts",
    "type src/graphql/graphql-server.ts",
    "@modelcontextprotocol/sdk/",
    "zod",
  ],
  // Runs in browsers, too.
  "src/client/": ["openapi-fetch"],
  // Runs in browsers only; it knows the service by its API.
  "src/web/": [
    "@codemirror/",
    "@lezer/highlight",
    "@tanstack/",
    "@xyflow/react",
    "cm6-graphql",
    "codemirror",
    "dompurify",
    "elkjs",
    "graphql",
    "graphql-language-service",
    "marked",
    "react",
    "react-dom",
    "test/data/sample/",
    "uplot",
  ],
  "src/web/vite.config.ts": ["@vitejs/plugin-react", "vite"],
  "src/cli/": [
    "src/client/",
    "src/core/",
    "src/lib/",
    "src/config/",
    "src/telemetry/",
    "package.json",
    "node:",
    "commander",
    "cli-progress",
    "string-width",
    "wrap-ansi",
    "yaml",
  ],

  "src/config/": ["src/core/", "src/lib/", "node:"],
  "src/telemetry/": [
    "type src/catalog/catalog.ts",
    "type src/log/change-log.ts",
    "src/lib/",
    "pino",
    "prom-client",
    "@opentelemetry/",
  ],

  // The process, and the folder that wires its parts.
  "src/main.ts": ["src/"],
  "src/app/": ["src/", "projections/", "node:"],
  "src/app/view-rules.ts": [
    ...["src/core/", "src/lib/", "type src/model/model.ts", "projections/", "node:"],
  ],

  // Tests see everything, through drivers and formats too where that is what they check.
  "test/": [
    "src/",
    "projections/",
    "annals/client",
    "package.json",
    "node:",
    "node:sqlite",
    "@modelcontextprotocol/sdk/",
    "@seriousme/openapi-schema-validator",
    "ajv",
    "autocannon",
    "axe-core",
    "avsc",
    "fast-check",
    "fastify",
    "graphql",
    "graphql-request",
    "jose",
    "playwright-core",
    "vite",
    "vitest",
    // Real servers, and what is asked of them beside the adapters.
    "@elastic/elasticsearch",
    "@eventstore/db-client",
    "@grpc/grpc-js",
    "google-protobuf",
    "kafkajs",
    "neo4j-driver",
    "pg",
    "testcontainers",
    "wrap-ansi",
    "yaml",
  ],
};

/**
 * Technologies: `src/<room>/<technology>/` holds the adapter of a room's port, and only adapters
 * there import the driver. They are opened by composition roots and tests alone.
 */
export const drivers: Readonly<Record<string, readonly string[]>> = {
  sqlite: ["node:sqlite", "lru-cache"],
  eventstoredb: ["@eventstore/db-client"],
  postgres: ["pg", "lru-cache"],
  elasticsearch: ["@elastic/elasticsearch", "lru-cache"],
  neo4j: ["neo4j-driver", "lru-cache"],
  kafka: ["kafkajs"],
};

/** Beside its driver: what every adapter may import. Its port's room comes on top. */
export const adapterMayImport: readonly string[] = [
  "src/core/",
  "src/lib/",
  "src/projector/",
  "src/storage/",
  "type src/telemetry/logger.ts",
  "node:",
];

export const mayOpenAdapters: readonly string[] = [
  "src/app/",
  "test/",
  // EventStoreDB cannot list its streams: their names are kept in SQLite.
  "src/log/eventstoredb/eventstore-change-log.ts",
];

/** Node modules that "node:" does not allow. */
export const nodeDrivers: readonly string[] = ["node:sqlite"];

export const fileLinesMax = 400;

/** Files that are longer. */
export const longFiles: ReadonlyMap<string, string> = new Map();

/** A file with so many lines is merged into its only importer. */
export const smallFileLinesMax = 60;

/** Members of a registry keep files of their own. */
export const registries: readonly string[] = [
  "src/cli/commands/",
  "src/core/timeline/",
  "src/graphql/mapping/tables/",
  "src/graphql/schema/sign-in-rules.ts",
  "src/http/routes/",
  "src/web/",
];

/** Source files of one folder, without those of its subfolders. */
export const folderFilesMax = 16;

/** Folders that may hold more, by the beginning of their path. */
export const largeFolders: ReadonlyMap<string, string> = new Map([
  ["src/web/", "one component per file"],
]);

/** Lines of a function without the functions in it (shape.ts). */
export const functionLinesMax = 70;

/** Longer functions: the beginnings of `path#name`. */
export const longFunctions: readonly { readonly begins: string; readonly reason: string }[] = [
  { begins: "src/http/routes/", reason: "tables of endpoints; each row is a declaration" },
  { begins: "src/web/", reason: "components contain their markup" },
  { begins: "src/cli/commands/commands.ts#addCommands", reason: "the table of commands" },
  {
    begins: "src/views/aspects/postgres/queries.ts#questionsOf",
    reason: "the table of SQL statements",
  },
  ...[
    "src/app/catalog-and-http.ts#openCatalogAndHttp",
    "src/catalog/create-catalog.ts#createCatalog",
    "src/catalog/read/reading.ts#createReading",
    "src/jobs/create-operations.ts#openOperations",
    "src/http/http-server.ts#createHttpServer",
  ].map((begins) => ({ begins, reason: "passes dependencies to the parts that it connects" })),
];

export const interfaceMethodsMax = 9;

/** Interfaces with more methods. */
export const largeInterfaces: ReadonlyMap<string, string> = new Map([
  ["src/catalog/read/entity-reads.ts#EntityReads", "one method for each form of a read"],
  ["src/catalog/write/entity-cache.ts#EntityCache", "states, and their invalidation"],
  ["src/feed/schema-registry.ts#SchemaRegistry", "the endpoints of Confluent's registry"],
  ["src/jobs/operations.ts#Operations", "one method for each operation"],
  ["src/log/change-log.ts#ChangeLog", "the port of the log"],
  ["src/projector/sink.ts#Sink", "the port of a view"],
  ["src/storage/elasticsearch/elasticsearch-view.ts#ElasticsearchView", "two sinks share it"],
]);

/** Written by a generator, and compared with its source by a test. */
export const generated: readonly string[] = ["src/client/schema.ts"];

/** Length of a line in a page. */
export const pageColumnsMax = 100;

/** Words that pages and code do not use: docs/glossary.md has the standard ones. */
export const replacedWords =
  /\b(told|tells?|telling|anew|heeds?|regrown?|culprits?|sights?|withheld|whoever|at hand|passed over|comes? to be|that there is not)\b/i;

/** What to write instead of a replaced word, for findings in code. */
export const replacements: Readonly<Record<string, string>> = {
  told: "written, stated, sent, reported or returned",
  tell: "write, state, send, report or return",
  tells: "writes, states, sends, reports or returns",
  telling: "write, event or statement",
  anew: "again",
  heed: "respect",
  heeds: "respects",
  regrow: "rebuild",
  regrown: "rebuilt or staging",
  culprit: "poison record",
  culprits: "poison records",
  sight: "access filter",
  sights: "access filters",
  withheld: "restricted",
  whoever: "the caller, user or process",
  "at hand": "cached",
  "passed over": "skipped",
  "come to be": "be created",
  "comes to be": "is created",
  "that there is not": "that does not exist",
};

/** First words of comments that describe instead of stating what the code does. */
export const firstWords = /^(what|who|whose|whoever|whether|of which)\b/i;

/** Replaced words in names that other processes or stored data have. */
export const keptNames: readonly { readonly name: RegExp; readonly reason: string }[] = [
  { name: /"_tells_"/, reason: "type of relationships in Neo4j" },
  { name: /"regrown"/, reason: "name of the staging generation's node in Neo4j" },
  { name: /\bedge_told\b/, reason: "index in the SQLite file of the graph" },
  { name: /"told"/, reason: "prefix of fields in Elasticsearch" },
  { name: /\.regrown`/, reason: "suffix of the staging generation's file in SQLite" },
];

/** Names that say nothing about what a file or folder holds. */
export const emptyNames: readonly string[] = [
  "utils",
  "util",
  "helpers",
  "common",
  "types",
  "misc",
];

/** What may lie at the top beside dotfiles; `data`, `dist` and `node_modules` are generated. */
export const topLevel: readonly string[] = [
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "avro",
  "coverage",
  "compose.yaml",
  "data",
  "deploy",
  "dist",
  "docker",
  "docs",
  "node_modules",
  "package-lock.json",
  "package.json",
  "projections",
  "docs",
  "src",
  "test",
  "tsconfig.build.json",
  "tsconfig.json",
];

export interface TextRule {
  readonly pattern: RegExp;
  /** Where it does not hold: the beginnings of paths. */
  readonly except?: readonly string[];
  /** A comment on the line or the one before it is reason enough. */
  readonly unlessExplained?: boolean;
  readonly instead: string;
}

export const textRules: readonly TextRule[] = [
  {
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    instead: "do it now, or leave it out of the code",
  },
  {
    pattern: /\b(test|describe|it)(\.\w+)*\.only\b/,
    instead: "let all tests run",
  },
  {
    // What an adapter declares not to support is told by its harness.
    pattern: /\b(test|describe|it)(\.\w+)*\.(skip|skipIf|todo|fails|runIf)\b(?!\(!?supports\.)/,
    unlessExplained: true,
    instead: "say why in a comment, or let the test run",
  },
  {
    pattern: /\bprocess\.env\b/,
    except: ["src/config/", "test/"],
    instead: "make it a setting (src/config/settings.ts)",
  },
  {
    // The import loads everything that its exports need, including fetch: 80 ms of a start, and 10 MB.
    pattern: /^import (?!type\b).*from "node:https?"/,
    except: ["test/"],
    instead:
      "import its types alone, or use process.getBuiltinModule as src/http/response/status-text.ts does",
  },
  {
    pattern: /@ts-(ignore|nocheck|expect-error)\b/,
    instead: "mend the type",
  },
  {
    pattern: /["'`\s(](\/work\/|\/home\/|\/root\/|\/Users\/|\.\.\/shared\b)/,
    instead: "name no place of one machine; import.meta.url and os.tmpdir() know theirs",
  },
  {
    // A list of 120,000 items as arguments overflows the stack.
    pattern: /\bMath\.(max|min)\(.*\.\.\.|\.(push|unshift)\(\.\.\./,
    except: ["test/", "src/web/", "src/lib/lists.ts"],
    instead: "use a function of src/lib/lists.ts",
  },
  {
    // `table[name]` also finds inherited members, such as "constructor".
    pattern:
      /(?<!typeof |hasOwn.*)[\w)\]](\?\.)?\[(([\w$]+\??\.)*(entityType|aspectName|aspect|typeName|type|name|criterion|condition|action|category|topic|range)|entityTypeOf\([^)]*\))\](?!\s*=[^=>])/,
    except: [
      "test/",
      // Names of views, settings and commands, and numbers of documents: no client chooses them.
      ...[
        "src/storage/",
        "src/views/search/sqlite/",
        "src/projector/",
        "src/config/",
        "src/cli/",
        "src/jobs/",
      ],
      ...[
        "src/http/docs/openapi.ts",
        "src/app/swappable-readers.ts",
        "src/app/verification/row-adapters.ts",
      ],
      "src/app/store-stats.ts",
    ],
    unlessExplained: true,
    instead: "look it up in a Map or with ownValue, or say in a comment which closed list it is of",
  },
];

/** Type names that several modules export, most of them in adapters of the log. */
export const sharedTypeNames: ReadonlySet<string> = new Set(
  "Address Appender Batch Connection Filter Level LogReader".split(" "),
);

/** Exports that only tests import, by reason. A constant named `…Max` needs no entry: tests exceed it. */
export const testedExports: ReadonlySet<string> = new Set([
  // Pure functions whose cases are tested one by one, below the function that calls them.
  "src/cli/commands/catalog/graph.ts#treeOf",
  "src/cli/terminal/terminal.ts#barLine",
  "src/cli/terminal/terminal.ts#widthOf",
  "src/core/query/filter.ts#compileFilterOver",
  "src/core/query/filter.ts#fieldValues",
  "src/core/json-text.ts#findHazard",
  "src/core/rules/reference-rules.ts#searchedName",
  "src/http/docs/docs-page.ts#callOf",
  "src/http/request/as-of-parameters.ts#takesAsOf",
  "src/log/codecs/record-codec.ts#createRecordCodec",
  "src/jobs/cluster/node-id.ts#newNodeId",
  // Closed lists and limits that tests walk or exceed.
  "src/catalog/graph/lineage.ts#lineageBounds",
  "src/core/secret-aspects.ts#secretAspects",
  "src/core/secret-aspects.ts#secretEntityTypes",
  "src/core/urn.ts#defaultUrnLimits",
  "src/graphql/schema/rules.ts#letIn",
  "src/graphql/schema/rules.ts#writes",
  "src/log/eventstoredb/connection-string.ts#appendBytesMaxByDefault",
  "src/jobs/audit/audit-trail.ts#countedMs",
  // Pure functions of the browser application, and its API for pages.
  "src/web/api/ingest.ts#batchesOf",
  "src/web/api/lineage.ts#edgesOfPaths",
  "src/web/api/metrics.ts#serviceStateOf",
  // Tests compare the README and the help with it.
  "src/cli/program.ts#createProgram",
]);
