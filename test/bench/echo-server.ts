/**
 * The baseline: a bare Fastify server that parses a JSON body and answers, with schemas for fast
 * serialization. GET and POST /text return the text of its standard input, like a stored response.
 */
import { text as textOf } from "node:stream/consumers";
import Fastify from "fastify";

const text = await textOf(process.stdin);
const app = Fastify({ logger: false, bodyLimit: 64 * 1024 * 1024 });

const body = { type: "object", additionalProperties: true } as const;
const response = { 200: { type: "object", properties: { value: { type: "string" } } } } as const;

app.post("/echo", { schema: { body, response } }, () => ({ value: "success" }));
app.get("/text", (_, reply) => reply.type("application/json").send(text));
app.post("/text", { schema: { body } }, (_, reply) => reply.type("application/json").send(text));

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === "object" ? address?.port : address}\n`);
