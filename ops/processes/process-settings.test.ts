import { describe, expect, it } from "vitest";
import { Environment } from "../config/environment.ts";
import { readConfig } from "../config/read-config.ts";
import { aboutSetting } from "../config/setting.ts";
import { settingsOf, usersOf } from "./process-settings.ts";
import type { RoleName } from "./run-role.ts";

const roles = ["indexer", "projector", "jobs", "api", "console"] as const;
const secrets = Object.entries(Environment.shape)
  .filter(([name, schema]) => aboutSetting(name, schema).secret === true)
  .map(([name]) => name);

const password = "a-long-random-password";
const own = "postgres://owner@db/orders";
const environment: Record<string, string> = {
  PATH: "/usr/bin:/bin",
  FEE_RECIPIENT: "0x00000000000000000000000000000000000fee01",
  DATABASE_URL: own,
  ...Object.fromEntries(roles.map((one) => [`DATABASE_URL_${one.toUpperCase()}`, urlOf(one)])),
  DATABASE_URL_ADMIN: urlOf("admin"),
  DATABASE_POOLER_URL: urlOf("pooler"),
  DATABASE_READ_URLS: urlOf("replica"),
  RPC_URL_1: "https://node.example/key",
  OPERATOR_HOST: "0.0.0.0",
  OPERATOR_PORT: "4001",
  OPERATOR_PASSWORD: password,
  SMTP_URL: "smtps://user:secret@mail.example",
  MAIL_FROM: "no-reply@example.com",
  PARTNER_A_URL: "https://partner.example",
  PARTNER_A_KEY: "partner-key",
  PARTNER_A_STREAM_URL: "wss://partner.example/stream",
  ANALYTICS_CLICKHOUSE_URL: "https://user:secret@clickhouse.example",
  ANALYTICS_READ_URL: urlOf("standby"),
};

function urlOf(user: string): string {
  return `postgres://${user}@db/orders`;
}

/** The secrets of `environment` that a process has. */
const held = (role: RoleName) =>
  Object.keys(settingsOf(role, environment))
    .filter((name) => secrets.includes(name))
    .sort();

describe("the environment of a process", () => {
  it("is decided for every secret", () => {
    expect(secrets.filter((name) => usersOf(name) === undefined)).toEqual([]);
    expect(secrets.length).toBeGreaterThan(20);
  });

  it("holds the secrets that the process uses, and no other", () => {
    const always = ["DATABASE_URL", "RPC_URL_1"];
    const partner = ["PARTNER_A_KEY", "PARTNER_A_STREAM_URL", "PARTNER_A_URL"];
    expect(held("indexer")).toEqual(always);
    expect(held("projector")).toEqual(always);
    expect(held("jobs")).toEqual(
      ["ANALYTICS_CLICKHOUSE_URL", "ANALYTICS_READ_URL", ...always, ...partner].sort(),
    );
    expect(held("api")).toEqual(
      ["DATABASE_POOLER_URL", "DATABASE_READ_URLS", ...always, ...partner, "SMTP_URL"].sort(),
    );
    expect(held("console")).toEqual(["DATABASE_READ_URLS", "OPERATOR_PASSWORD", ...always].sort());
  });

  it.each(roles)(
    "is a configuration that the %s process accepts, as its own database user",
    (role) => {
      const settings = settingsOf(role, environment);
      const named = Object.entries(settings).flatMap(([name, value]) =>
        value === undefined || name === "PATH" ? [] : [[name, value] as const],
      );
      const config = readConfig(Object.fromEntries(named));
      expect(config.database.url).toBe(urlOf(role));
      expect(config.console.password).toBe(role === "console" ? password : null);
    },
  );

  it("has the owner's address where a process has no user of its own, and what is no secret", () => {
    const settings = settingsOf("jobs", { DATABASE_URL: own, LOG_LEVEL: "debug", PATH: "/bin" });
    expect(settings).toEqual({ DATABASE_URL: own, LOG_LEVEL: "debug", PATH: "/bin" });
  });
});
