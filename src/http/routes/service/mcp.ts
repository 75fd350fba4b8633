/** The Model Context Protocol over HTTP: one endpoint for the tools of language models. */
import type { McpEndpoint } from "../../../mcp/mcp-server.ts";
import { type Endpoint, objectWith } from "../../schemas/endpoint.ts";

const bodyBytesMax = 2 ** 20;

export const mcpRoutes = (mcp: McpEndpoint): readonly Endpoint[] => [
  {
    method: "POST",
    kind: "page",
    path: "/mcp",
    name: "mcp",
    parameters: [
      {
        name: "MCP-Protocol-Version",
        in: "header",
        type: "string",
        about: "The version that the client and the server agreed on",
      },
    ],
    body: objectWith(["jsonrpc"], {
      jsonrpc: { enum: ["2.0"] },
      id: { type: ["string", "integer"] },
      method: { type: "string" },
      params: { type: "object" },
      result: { type: "object" },
      error: { type: "object" },
    }),
    bodyBytesMax,
    changes: (body) => mcp.writes && (body as McpMessage).method === "tools/call",
    reads: ["entities", "timeseries", "relationships", "search"],
    async handle({ body, parameters, caller }, { catalog }) {
      const protocolVersion = parameters["MCP-Protocol-Version"] as string | undefined;
      const { actor } = caller;
      const request = { message: body, protocolVersion, catalog, actor };
      const { json, ...response } = await mcp.handle(request);
      return { ...response, ...(json !== "" && { json }), keep: false };
    },
  },
];

interface McpMessage {
  readonly method?: unknown;
}
