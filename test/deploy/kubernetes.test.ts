/** The manifests for Kubernetes: their schema, security, probes, settings, and agreement with the compose files. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { settings } from "../../src/config/settings.ts";
import { parseAddress } from "../../src/log/eventstoredb/connection-string.ts";
import { runningService } from "../support/running-service.ts";
import { settingNamed } from "../support/setting-named.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly limits: Readonly<Record<"memory" | "cpu", string>> };
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Readonly<Record<string, string>> & {
      readonly matchLabels?: Readonly<Record<string, string>>;
    };
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly [Container];
        readonly volumes?: readonly {
          readonly name: string;
          readonly secret?: { readonly secretName: string };
        }[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const root = new URL("../../", import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), "utf8");
const page = textOf("docs/kubernetes.md");
const files = readdirSync(new URL("deploy/kubernetes/", root));
/** Kubernetes reads YAML 1.1, where 0440 is octal. */
const manifestsOf = (file: string): readonly Manifest[] =>
  parseAllDocuments(textOf(`deploy/kubernetes/${file}`), { version: "1.1" }).map((document) =>
    document.toJS(),
  );

const manifests = files.flatMap((file) =>
  manifestsOf(file).map((manifest) => ({ file, manifest, title: titleOf(manifest) })),
);
function titleOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

const workloads = manifests
  .filter(({ manifest }) => manifest.spec.template !== undefined)
  .map(({ file, manifest, title }) => {
    const pod = manifest.spec.template.spec;
    return { file, title, manifest, pod, container: pod.containers[0] };
  });
const nodes = workloads.filter(({ container }) => container.name === "annals");

const schema = JSON.parse(textOf("test/data/kubernetes-schema.json"));
const ajv = new Ajv({ strict: false, formats: { int32: true, int64: true, "date-time": true } });
ajv.addSchema(schema, "kubernetes");
const errorsOf = (manifest: Manifest): unknown => {
  const validate = ajv.getSchema(`kubernetes#/definitions/${schema.kinds[manifest.kind]}`);
  validate?.(manifest);
  return validate === undefined ? "unknown kind" : validate.errors;
};

test("there is a manifest of each profile", () => {
  expect(files.sort()).toEqual(["cluster.yaml", "embedded.yaml"]);
});

test.each(manifests)("the $title in $file follows the schema of Kubernetes", ({ manifest }) => {
  expect(errorsOf(manifest)).toBeNull();
  expect(
    errorsOf({ ...manifest, spec: { ...manifest.spec, replica: 1 } } as Manifest),
  ).not.toBeNull();
});

describe.each(workloads)("the $title in $file", ({ file, manifest, pod, container }) => {
  test("runs without privileges", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("gets no variables from the Services beside it, which it would take for settings", () => {
    expect(pod).toMatchObject({ enableServiceLinks: false });
  });

  test("mounts only volumes that it declares", () => {
    const declared = [
      ...(pod.volumes ?? []).map(({ name }) => name),
      ...(manifest.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
    ];
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(declared.sort());
  });

  test("uses only Secrets that the page creates", () => {
    const secrets = [
      ...(pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
      ...container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? []),
    ];
    for (const secret of secrets) expect(page).toContain(`create secret generic ${secret} `);
  });

  test("is probed on ports that it has", () => {
    const ports = container.ports.map(({ name }) => name);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
      if (port !== undefined) expect(ports).toContain(port);
    }
  });

  test("has labels that its selector and a Service select", () => {
    const { labels } = manifest.spec.template.metadata;
    expect(labels).toMatchObject(manifest.spec.selector.matchLabels ?? {});
    if (container.name === "annals" && labels["app.kubernetes.io/component"] === "worker") return;
    const service = manifests.find(
      (other) =>
        other.file === file &&
        other.manifest.kind === "Service" &&
        Object.entries(other.manifest.spec.selector).every(
          ([name, value]) => labels[name] === value,
        ),
    );
    const ports = service?.manifest.spec.ports?.map(({ targetPort }) => targetPort);
    expect(ports).toEqual(container.ports.map(({ name }) => name));
  });
});

describe.each(nodes)("the $title in $file", ({ pod, container }) => {
  test("sets only variables that are settings, with values that they accept", () => {
    const own = container.env.filter(({ name }) => name.startsWith("ANNALS_"));
    expect(own.length).toBeGreaterThan(1);
    for (const { name, value = "" } of own) {
      const key = settingNamed(name);
      expect(key, name).toBeDefined();
      const filled = value.replaceAll("$(STORES_PASSWORD)", "given-from-outside");
      if (key !== undefined) expect(settings[key].kind.parse(filled), value).toBeDefined();
    }
  });

  test("runs a command and a port of the image", () => {
    const dockerfile = textOf("docker/Dockerfile");
    expect(dockerfile).toContain(`CMD ${JSON.stringify(container.args)}`);
    for (const { containerPort } of container.ports) {
      expect(dockerfile).toContain(`EXPOSE ${containerPort}`);
      expect(dockerfile).toContain(`ANNALS_PORT=${containerPort} `);
    }
    expect(dockerfile).toContain("ANNALS_DATA=/data");
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain("/data");
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  test("has longer to stop than its requests have to finish", () => {
    const seconds = Number(settings.shutdownTimeoutSeconds.fallback);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds);
  });
});

test("a service with keys of the page answers the probes and the token of the root user", async () => {
  using directory = temporaryDirectory("annals-kubernetes");
  const key = "0123456789abcdef".repeat(4);
  expect(page.match(/openssl rand -hex 32/g)).toHaveLength(4);
  const at = (name: string): string => join(directory.path, name);
  for (const name of ["operator.token", "signing.key", "secret.key"]) {
    writeFileSync(at(name), key, { mode: 0o440 });
  }
  writeFileSync(at("system.client"), `__datahub_system:${key}`, { mode: 0o440 });
  await using service = await runningService({
    auth: "on",
    operatorTokenFile: at("operator.token"),
    signingKeyFile: at("signing.key"),
    secretKeyFile: at("secret.key"),
    systemClientFile: at("system.client"),
  });
  const probed = new Set(
    nodes.flatMap(({ container: { startupProbe, livenessProbe, readinessProbe } }) =>
      [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.path ?? ""),
    ),
  );
  expect([...probed].sort()).toEqual(["/health/live", "/health/ready"]);
  for (const path of probed) expect((await service.client.get(path)).status).toBe(200);
  const path = "/entitiesV2/urn:li:corpuser:datahub";
  const asRoot = { Authorization: `Bearer ${key}` };
  expect((await service.client.call("GET", path, undefined, asRoot)).status).toBe(200);
  expect((await service.client.get(path)).status).toBe(401);
});

describe("the cluster profile", () => {
  const compose = parse(textOf("docker/cluster.yaml"), { merge: true }).services;
  const cluster = workloads.filter(({ file }) => file === "cluster.yaml");
  /** The name in the compose file. */
  const nameOf = ({ metadata }: Manifest): string => metadata.name.replace("annals-", "");
  /** Compose publishes Kafka to the machine, too; the log of Kafka may not be the root of a volume. */
  const differing =
    /^(KAFKA_(LISTENERS|ADVERTISED_LISTENERS|LISTENER_SECURITY.*|LOG_DIRS)|PGDATA|STORES_PASSWORD)$/;

  test("has the workloads of the compose file", () => {
    const { keys: _, ...services } = compose;
    expect(cluster.map(({ manifest }) => nameOf(manifest)).sort()).toEqual(
      Object.keys(services).sort(),
    );
  });

  test.each(cluster)("$title has image, limits and variables of the compose file", (workload) => {
    const { manifest, container } = workload;
    const service = compose[nameOf(manifest)];
    expect(container.image).toBe(service.image);
    expect(manifest.spec.replicas).toBe(service.deploy.replicas ?? 1);
    const { memory, cpus } = service.deploy.resources.limits;
    expect(container.resources.limits).toEqual({
      memory: memory.toUpperCase().concat("i"),
      cpu: cpus,
    });
    const password = "given";
    const own = container.env.map(({ name, value }) => [
      name,
      value?.replaceAll("$(STORES_PASSWORD)", password) ?? password,
    ]);
    const theirs = Object.entries(service.environment as Record<string, string>).map(
      ([name, value]) => [name, value.replaceAll(/\$\{STORES_PASSWORD[^}]*\}/g, password)],
    );
    const compared = (variables: readonly (readonly string[])[]) =>
      variables.filter(([name = ""]) => !differing.test(name)).sort();
    expect(compared(own)).toEqual(compared(theirs));
  });

  test("sends the log's server as much at once as it accepts", () => {
    const variablesNamed = (name: string) =>
      cluster.flatMap(({ container }) => container.env.filter((each) => each.name === name));
    const [accepted] = variablesNamed("EVENTSTORE_MAX_APPEND_SIZE");
    const logs = variablesNamed("ANNALS_LOG");
    expect(logs).toHaveLength(2);
    for (const { value = "" } of logs) {
      expect(parseAddress(value).appendBytesMax).toBe(Number(accepted?.value));
    }
  });
});

test("the embedded profile has image and memory limit of the compose file", () => {
  const { annals } = parse(textOf("compose.yaml")).services;
  const [embedded] = nodes.filter(({ file }) => file === "embedded.yaml");
  expect(embedded?.container.image).toBe(annals.image);
  const { memory } = annals.deploy.resources.limits;
  expect(embedded?.container.resources.limits.memory).toBe(`${memory.toUpperCase()}i`);
});
