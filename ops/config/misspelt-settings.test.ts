import { describe, expect, it } from "vitest";
import { Environment } from "./environment.ts";
import { misspeltSettings } from "./setting-problems.ts";

const known = Object.keys(Environment.shape);

describe("a variable that is no setting", () => {
  it.each([
    ["RPC_URL", "RPC_URL_1"],
    ["RATE_LIMIT_KEYLES", "RATE_LIMIT_KEYLESS"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["log_level", "LOG_LEVEL"],
    ["MARKET_PREFX", "MARKET_PREFIX"],
    ["SITEURL", "SITE_URL"],
    ["RATE_LIMIT_KEYS", "RATE_LIMIT_KEY"],
    ["PARTNER_A_TOKEN", "PARTNER_A_KEY"],
  ])("%s is refused with the one that is meant, %s", (name, meant) => {
    const problems = misspeltSettings({ [name]: "x" });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(meant);
    expect(problems[0]).not.toContain("x ");
  });

  it("is refused after one change of any long name", () => {
    for (const name of known.filter(({ length }) => length > 9)) {
      for (const typed of [`${name}S`, name.slice(0, -1), name.toLowerCase()]) {
        if (known.includes(typed)) continue;
        expect([typed, misspeltSettings({ [typed]: "1" })]).toEqual([typed, [expect.any(String)]]);
      }
    }
  });

  it.each([
    ...["PATH", "HOME", "HOSTNAME", "HOSTTYPE", "LOGNAME", "LANG", "PWD", "SHELL", "TERM", "USER"],
    ...["NODE_ENV", "NODE_OPTIONS", "npm_config_cache", "npm_package_name", "npm_lifecycle_event"],
    ...["PGHOST", "PGPORT", "PGDATABASE", "PGPASSWORD", "POSTGRES_DB", "POSTGRES_PASSWORD"],
    ...["KUBERNETES_PORT", "KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT_443_TCP_ADDR"],
    ...[
      "API_PORT",
      "DATABASE_PORT_5432_TCP",
      "RATE_LIMIT_SERVICE_HOST",
      "DATABASE_URL_SERVICE_PORT",
    ],
    ...["host", "port", "CI", "TZ", "VITEST", "XDG_DATA_DIRS", "SSL_CERT_FILE", "HTTP_PROXY"],
    ...["MALLOC_ARENA_MAX", "LD_LIBRARY_PATH", "JOURNAL_STREAM", "INVOCATION_ID", "OLDPWD"],
  ])("%s is left to others", (name) => expect(misspeltSettings({ [name]: "x" })).toEqual([]));

  it("is none of the settings", () => {
    expect(misspeltSettings(Object.fromEntries(known.map((name) => [name, "x"])))).toEqual([]);
  });
});
