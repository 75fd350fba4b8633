/** Opens the MCP endpoint on its first request: most services never load its libraries. */
import type { createMcpEndpoint, McpEndpoint } from "./mcp-server.ts";

export function createLazyMcpEndpoint(
  options: Parameters<typeof createMcpEndpoint>[0],
): McpEndpoint {
  let opening: Promise<McpEndpoint> | undefined;
  const open = async (): Promise<McpEndpoint> =>
    (await import("./mcp-server.ts")).createMcpEndpoint(options);
  return {
    writes: options.mutations !== undefined,

    async handle(request) {
      opening ??= open();
      return (await opening).handle(request);
    },
  };
}
