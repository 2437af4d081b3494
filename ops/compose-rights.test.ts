import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { Environment } from "./config/environment.ts";
import { aboutSetting } from "./config/setting.ts";
import { roleNames } from "./processes/run-role.ts";

const Mounted = z.union([
  z.string().transform((source) => ({ source, target: source })),
  z.strictObject({ source: z.string(), target: z.string() }),
]);
/** Strict: what grants more (`privileged`, `cap_add`, `network_mode`, `pid`) is named here before it is shipped. */
const Service = z.strictObject({
  image: z.string(),
  build: z.unknown().optional(),
  user: z.string(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal("ALL")]),
  security_opt: z.tuple([z.literal("no-new-privileges:true")]),
  tmpfs: z.array(z.string()),
  networks: z.array(z.string()),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(Mounted).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()),
  ...{ restart: z.string(), stop_grace_period: z.string().optional() },
  ...{
    depends_on: z.unknown().optional(),
    healthcheck: z.unknown().optional(),
    expose: z.unknown().optional(),
  },
  shm_size: z.string().optional(),
});
const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

const text = readFileSync(join(import.meta.dirname, "../docs/deploying/compose.yaml"), "utf8");
const compose = Compose.parse(parse(text, { merge: true }));
const services = Object.entries(compose.services);

const isSecret = (name: string): boolean => {
  const schema = Environment.shape[name as keyof Environment];
  return schema !== undefined && aboutSetting(name, schema).secret === true;
};

describe("the shipped compose file", () => {
  it.each(services)("runs %s as no root, which may write to nothing but its own", (_, service) => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    for (const volume of service.volumes) {
      expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
    }
  });

  it("publishes the API's port alone, and the database to a network that leads nowhere", () => {
    const published = services.flatMap(([name, { ports }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([["api", "4000:4000"]]);
    expect(compose.services.postgres?.networks).toEqual(["database"]);
    expect(compose.networks.database).toEqual({ internal: true });
  });

  it.each(services)("tells %s no secret by its environment or command line", (_, service) => {
    const { environment, command, entrypoint = [] } = service;
    expect(Object.keys(environment).filter(isSecret)).toEqual([]);
    for (const [name, value] of Object.entries(environment)) {
      if (/PASSWORD|SECRET|KEY|TOKEN/.test(name)) expect(value).toMatch(/^\/run\/secrets\/\w+$/);
    }
    expect([...command, ...entrypoint].join(" ")).not.toMatch(/:\/\/[^/']*@|password=/i);
  });

  it("gives each role the file of its own secrets, and PostgreSQL's and the owner's to no role", () => {
    for (const [name, { secrets, entrypoint }] of services) {
      for (const { source } of secrets)
        expect(compose.secrets[source]?.file).toMatch(/^\.\/secrets\//);
      if (!(roleNames as readonly string[]).includes(name)) continue;
      expect(secrets).toEqual([{ source: name, target: "settings" }]);
      expect(entrypoint).toContain("--env-file=/run/secrets/settings");
    }
    const mounted = services.flatMap(([, { secrets }]) => secrets.map(({ source }) => source));
    expect(new Set(mounted)).toEqual(new Set(Object.keys(compose.secrets)));
    const ofOwner = services.filter(([, one]) =>
      one.secrets.some(({ source }) => source === "owner"),
    );
    expect(ofOwner.map(([name]) => name)).toEqual(["migrate", "grant"]);
  });
});
