/**
 * The baseline: a bare Fastify that parses a JSON body and answers, with schemas as Fastify wants
 * them for speed. GET /text answers the text that it was started with, as a stored reply would be.
 */
import Fastify from "fastify";

const text = process.argv[2] ?? "{}";
const app = Fastify({ logger: false, bodyLimit: 64 * 1024 * 1024 });

const body = { type: "object", additionalProperties: true } as const;
const response = { 200: { type: "object", properties: { value: { type: "string" } } } } as const;

app.post("/echo", { schema: { body, response } }, () => ({ value: "success" }));
app.get("/text", (_, reply) => reply.type("application/json").send(text));

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === "object" ? address?.port : address}\n`);
