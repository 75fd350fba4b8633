/**
 * Selects the test files of a run.
 *
 * `npm test` runs every file except those listed here. `TEST_STORES=all npm test` runs every file.
 * A test file joins the second group by its folder: `test/kill/` (processes that are killed),
 * `test/damage/` (damaged files, disks that fail), `test/fuzz/` (generated input) and `test/cluster/`
 * (several nodes); a suite that needs a browser, starts many processes or takes longer than others by
 * its name. A suite on a real server goes to
 * `test/adapter/<store>-….test.ts`.
 *
 * Patterns are globs relative to the project's folder. A file named on the command line always runs.
 */

/** Long suites, by their subject. */
const long: readonly string[] = [
  "test/{kill,damage,fuzz,cluster}/**",
  "test/e2e/{backup,containers,crash,jobs,package,writer-ends,rebuild,rebuild-*,scavenge}.test.ts",
  "test/e2e/{damaged-files,faults-*,parked-entities,dropped-events,cancelled-jobs,another-log}.test.ts",
  "test/web/{changing,editing,entity,find,graphiql,hostile,keyboard}.test.ts",
  "test/web/{operations,pages,past,sign-in,states}.test.ts",
  "test/http/generated-clients.test.ts",
  "test/mcp/{datahub-agent-context,datahub-mcp-server}.test.ts",
  "test/openlineage/reference-clients.test.ts",
  "test/plugins/**",
  "test/e2e/{verify,verify-structure,verify-moved,verify-unknown,model-change}.test.ts",
  "test/e2e/{damaged-indexes,parked-values}.test.ts",
  "test/cli/{catalog-commands,operator-commands,program,rejected-starts,terminal}.test.ts",
  "test/adapter/{eventstoredb-*,sqlite-search-merging,sqlite-search-oracle}.test.ts",
  "test/auth/{attacks,large-hierarchies,nodes,sign-in}.test.ts",
  "test/{catalog/as-of,graphql/{coverage-page,many-at-once,move},install}.test.ts",
  "test/http/{large-bodies,large-values}.test.ts",
  "test/{log/sqlite/index-check,deploy/proxies,deploy/systemd}.test.ts",
  "test/projector/{offline-rebuild,projector-thread,rebuilding}.test.ts",
];

/** Suites that need at least one server; each test in them names the stores that it needs. */
const onServers: readonly string[] = [
  "test/adapter/{postgres,neo4j,elasticsearch,opensearch,kafka}-*.test.ts",
  "test/adapter/{view-rows,store-tasks}.test.ts",
  "test/auth/kafka-proposals.test.ts",
  "test/projector/rebuilding-servers.test.ts",
  "test/e2e/views-behind.test.ts",
];

/** The patterns of the files that a run excludes, from the environment and the arguments. */
export function excludedFiles(
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
): readonly string[] {
  const named = args.some((argument) => argument.endsWith(".test.ts"));
  if (named || env.TEST_STORES === "all") return [];
  const anyStore = [env.TEST_STORES, env.REQUIRE_STORES, env.TEST_STORES_FILE].some(Boolean);
  return anyStore ? long : [...long, ...onServers];
}
