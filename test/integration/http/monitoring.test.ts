import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import type { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openCallerStreams } from "#api/accounts/caller-streams.ts";
import { createApp } from "#api/app.ts";
import { openFeed } from "#api/feed/open-feed.ts";
import { openConcurrencyLimiter } from "#api/http/concurrency.ts";
import { openMetrics } from "#api/http/metrics.ts";
import { listen } from "#api/http/server.ts";
import { createOperatorApp } from "#api/status/operator-app.ts";
import { gaugeReplicas, openWaitHistogram } from "#api/status/replica-gauges.ts";
import { maxLagSeconds } from "#api/status/service-status.ts";
import { openStatusReader } from "#api/status/status-reader.ts";
import { Environment } from "#ops/config/environment.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";

const folder = join(import.meta.dirname, "../../../docs/monitoring");
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const logger = pino({ level: "silent" });

let database: TestDatabase;
let registry: Registry;
let text: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  await prepare(db);
  await sql`
    insert into ops.analytics_engine (engine, position, synced_at) values ('clickhouse', 0, now())`.execute(
    db,
  );
  registry = openMetrics();
  gaugeReplicas(registry, { states: () => [], waits: openWaitHistogram().histogram });
  const now = () => new Date();
  const readStatus = openStatusReader({
    ...{ db, chains: [], projections: [], now, logger },
    ...{ lateSeconds: maxLagSeconds, maxAgeMs: 0 },
  });
  const market = openTestMarket(db);
  const source = { db, chainIds: [1], feeRecipient: testFee.recipient };
  const feed = openFeed({ source, logger });
  const streams = openCallerStreams({ db, logger, limits: { account: 1, address: 1 } });
  const app = createApp({
    context: { db, siteUrl: "https://site.example.test", chains: [1], readStatus, market, now },
    ...{ baseUrl: "https://api.example.test", logger, operatorMetrics: registry, feed, streams },
    concurrency: openConcurrencyLimiter({ total: 10, perCaller: 10 }),
  });
  const api = await listen(app, "127.0.0.1", 0);
  await (await fetch(`http://127.0.0.1:${api.port}/healthz`)).text();
  const operatorApp = createOperatorApp({ metrics: registry, readStatus, logger });
  const operators = await listen(operatorApp, "127.0.0.1", 0);
  text = await (await fetch(`http://127.0.0.1:${operators.port}/metrics`)).text();
  await operators.close();
  await api.close();
  await Promise.all([feed.stop(), streams.stop()]);
});
afterAll(() => database?.drop());

const Dashboard = z.object({
  panels: z.array(
    z.object({
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});

/** Every expression, with the labels that its legend or its annotations show. */
function expressions(): { expr: string; shown: string[] }[] {
  const { panels } = Dashboard.parse(JSON.parse(read("grafana-dashboard.json")));
  const ofPanels = panels.flatMap(({ targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      expr,
      shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
    })),
  );
  const rules = read("alert-rules.yml")
    .split(/\n\s+- alert: /)
    .slice(1);
  const ofRules = rules.map((rule) => ({
    expr: /^ +expr: (.+)$/m.exec(rule)?.[1] ?? "",
    shown: [...rule.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label),
  }));
  return [...ofPanels, ...ofRules];
}

const functions =
  /\b(sum|max|min|avg|rate|increase|deriv|changes|absent|topk|histogram_quantile|vector|time|by|or|and|le)\b/g;
const ofScraping = ["instance", "job"];

const groupedBy = (expr: string): string[] =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));

/** The metrics of an expression, and the labels by which it groups or filters. */
function namesOf(expr: string): { metrics: string[]; labels: string[] } {
  const filtered = [...expr.matchAll(/(\w+)(?==~|!=|="|!~)/g)].map(([, label = ""]) => label);
  const rest = expr
    .replaceAll(/\bby \([^)]*\)/g, "")
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replaceAll(functions, "");
  return {
    metrics: rest.match(/[a-z][a-z0-9_]{2,}/g) ?? [],
    labels: [...groupedBy(expr), ...filtered],
  };
}

const familyOf = (metric: string) => metric.replace(/_seconds_(bucket|count|sum)$/, "_seconds");
const Labelled = z.object({ labelNames: z.array(z.string()) });

/** Labels of a metric that /metrics has; a test fails for one that it has not. */
function labelsOf(metric: string, expr: string): string[] {
  const family = familyOf(metric);
  expect.soft(text, expr).toMatch(new RegExp(`^# TYPE ${family} (gauge|counter|histogram)$`, "m"));
  return Labelled.parse(registry.getSingleMetric(family)).labelNames;
}

function checkExpression({ expr, shown }: { expr: string; shown: string[] }): void {
  const { metrics, labels } = namesOf(expr);
  expect.soft(metrics.length, expr).toBeGreaterThan(0);
  const known = [...ofScraping, "le", ...metrics.flatMap((metric) => labelsOf(metric, expr))];
  for (const label of [...labels, ...shown]) expect.soft(known, expr).toContain(label);
  // What is shown must be left by the grouping.
  for (const label of shown) expect.soft(groupedBy(expr), expr).toContain(label);
}

describe("the dashboard and the alert rules", () => {
  it("name only metrics and labels that /metrics has", () => {
    const all = expressions();
    expect(all.length).toBeGreaterThan(40);
    for (const one of all) checkExpression(one);
  });

  it("show every metric of the service's own", () => {
    const named = new Set(expressions().flatMap(({ expr }) => namesOf(expr).metrics.map(familyOf)));
    const own = [...text.matchAll(/^# TYPE (\w+) /gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !/^(process|nodejs)_/.test(name));
    expect(own.filter((name) => !named.has(name))).toEqual([]);
  });
});

type Budget = { budget: string; settings: string[]; gauges: string[]; tables: string[] };

/** Rows of the table of budgets in docs/threat-model.md. */
function budgets(): Budget[] {
  const [, section = ""] = /\n## Budgets\n([\s\S]*?)\n## /.exec(read("../threat-model.md")) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  return rows.slice(1).map((row) => {
    const [, , , budget = "", setting, gauge] = row.split(/ ?\| ?/);
    const named = quoted(gauge);
    return {
      budget,
      settings: quoted(setting).filter((name) => /^[A-Z0-9_]+$/.test(name)),
      gauges: named.filter((name) => /^[a-z0-9_]+(\{.*\})?$/.test(name)),
      tables: named.filter((name) => /^[a-z]+\.[a-z_]+$/.test(name)),
    };
  });
}

describe("the budgets of the threat model", () => {
  it("name settings that exist, with their defaults", () => {
    const settings: Record<string, z.ZodType> = Environment.shape;
    const all = budgets();
    expect(all.length).toBeGreaterThan(30);
    expect(all.flatMap((one) => one.settings).length).toBeGreaterThan(15);
    for (const { settings: named, budget } of all) {
      const defaults = named.map((name) => {
        expect.soft(Object.keys(settings)).toContain(name);
        return settings[name]?.safeParse(undefined).data;
      });
      const [only] = defaults;
      if (defaults.length === 1 && typeof only === "number")
        expect.soft(budget, named.join()).toContain(`(${only.toLocaleString("en")}`);
    }
  });

  it("name gauges and tables that exist", async () => {
    for (const { gauges, tables } of budgets()) {
      for (const gauge of gauges) {
        // A route has braces of its own.
        const expr = gauge.replace(/\{(\w+)=.*\}$/, '{$1=""}');
        checkExpression({ expr, shown: [] });
      }
      for (const table of tables) {
        const [projection = "", name] = table.split(".");
        const { rows } = await sql<{ exists: boolean }>`
          select to_regclass(${`${schemaOf(projection)}.${name}`}) is not null as exists`.execute(
          database.db,
        );
        expect.soft(rows, table).toEqual([{ exists: true }]);
      }
    }
  });
});

describe("metrics", () => {
  it("have names after Prometheus' conventions: counters end with _total, times are in seconds", () => {
    const families = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].filter(
      ([, name = ""]) => !/^(process|nodejs)_/.test(name),
    );
    expect(families.length).toBeGreaterThan(15);
    for (const [, name = "", type] of families) {
      expect.soft(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect.soft(name.endsWith("_total"), `${name} is a ${type}`).toBe(type === "counter");
      expect.soft(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/);
      expect.soft(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
    }
  });
});

/** Debian's package `prometheus` has it; `.ci/run` fetches that where it can. */
const promtool = (args: readonly string[], input = "") =>
  spawnSync("promtool", args, { encoding: "utf8", input });

describe.runIf(promtool(["--version"]).status === 0)("Prometheus' own tool", () => {
  it("loads the alert rules", () => {
    const { stdout } = promtool(["check", "rules", join(folder, "alert-rules.yml")]);
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  it("reads /metrics", () => {
    const { stderr } = promtool(["check", "metrics"], text);
    expect(stderr).not.toMatch(/error/i);
  });
});
