/**
 * A Kafka with TLS, users and access control: `kafka://admin:…` has all rights, and
 * `kafka://annals:…` has none at first. Its certificate is that of the test servers, which no
 * authority has signed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kafkaWith } from "./kafka.ts";
import type { ServerKind, ServerPlace } from "./server-kind.ts";

const passwords = { admin: "admin-secret", annals: "annals secret@/:" } as const;

const readText = (name: string): string =>
  readFileSync(new URL(`../eventstoredb-server/${name}`, import.meta.url), "utf8");

/** PEM text of the certificate to trust. */
export const kafkaCertificates = (): string => readText("test-server.crt");

/** The same address with another user or another password. */
export const kafkaAs = (
  url: string,
  user: keyof typeof passwords,
  password: string = passwords[user],
): string => url.replace(/\/\/[^@]*@/, `//${user}:${encodeURIComponent(password)}@`);

export async function securedKafka(): Promise<ServerKind> {
  const kind = kafkaWith({
    properties,
    format: Object.entries(passwords).flatMap(([name, password]) => [
      "--add-scram",
      `SCRAM-SHA-512=[name=${name},password=${password}]`,
    ]),
  });
  const url = ({ ports }: ServerPlace) => `kafka://admin@127.0.0.1:${ports[2]}?tls=true`;
  return { ...kind, portCount: 3, url: (place) => kafkaAs(url(place), "admin") };
}

/** The broker itself and its readiness check use the ports without users. */
function properties({ folder, ports: [inner, controller, outer] }: ServerPlace): string {
  const keys = join(folder, "keys.pem");
  writeFileSync(keys, readText("test-server.key") + kafkaCertificates());
  return `
listeners=PLAINTEXT://127.0.0.1:${inner},CONTROLLER://127.0.0.1:${controller},SASL_SSL://127.0.0.1:${outer}
advertised.listeners=PLAINTEXT://127.0.0.1:${inner},SASL_SSL://127.0.0.1:${outer}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_admin="${passwords.admin}";
ssl.keystore.type=PEM
ssl.keystore.location=${keys}
ssl.client.auth=none
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
`;
}
