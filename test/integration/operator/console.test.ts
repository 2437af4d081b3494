import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureRequests, openMetrics } from "#api/http/metrics.ts";
import { listen } from "#api/http/server.ts";
import { operationArguments } from "#ops/console/operations.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { openOperations } from "#ops/processes/start-roles.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import { advance } from "#projections/engine/tick.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { readOperatorActions, readPaused, storeJobFigures } from "#projections/log/operators.ts";
import { addSources } from "#projections/log/sources.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  apes,
  appendTrades,
  appendUnreadableOrder,
  operate,
  prepare,
  retractBlocks,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openConsole, runAsSupervisor, type TestConsole } from "#test/support/http/console.ts";
import { decode, tableOf } from "#test/support/http/page-tables.ts";

let database: TestDatabase;
let targets: Target[];
let console: TestConsole;
const orphanGuard = startOrphanGuard();
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  targets = await prepare(db);
  await appendTrades(db, 1, 2);
  await appendUnreadableOrder(db, 3);
  await appendTrades(db, 4, 6);
  await retractBlocks(db, 5, 6);
  const source = {
    source: "seaport",
    indexer: "core",
    eventSources: [],
    address: null,
    firstBlock: null,
  };
  await addSources(db, 1, [{ ...source, addedBy: "configuration" }]);
  await appendTrades(db, 7, 7);
  await keepUp();
  console = await openConsole(database, { runOperation: runAsSupervisor(database) });
});
afterAll(async () => {
  await console?.close();
  await database?.drop();
});

async function keepUp(): Promise<void> {
  while ((await advance(database.db, targets)).outcome !== "idle");
}

async function op<Content>(...args: string[]): Promise<Content> {
  return JSON.parse((await operate(database.url, ...args, "--json")).out) as Content;
}

const page = async (path: string) => (await console.get(path)).page;
const cellsOf = (text: string, caption: string) => tableOf(text, caption).map(({ cells }) => cells);

describe("figures", () => {
  it("of chains and projections are those of op status at the same moment", async () => {
    type Status = {
      logHead: number;
      chains: Record<string, unknown>[];
      projections: { name: string; version: number; position: number; lag: number }[];
    };
    const status = await op<Status>("status");
    const text = await page("/");

    const columns = [
      "chainId",
      "head",
      "indexed",
      "recorded",
      "finalized",
      "lagBlocks",
      "lagSeconds",
      "proved",
    ];
    expect(cellsOf(text, "Chains")).toEqual(
      status.chains.map((chain) => columns.map((name) => String(chain[name] ?? "unknown"))),
    );
    expect(cellsOf(text, "Projections").map((cells) => cells.slice(0, 4))).toEqual(
      status.projections.map(({ name, version, position, lag }) =>
        [name, version, position, lag].map(String),
      ),
    );
    expect(text).toContain(`<data id="log-head" value="${status.logHead}">`);
    expect(status.projections.length).toBeGreaterThan(10);
  });

  it("of problems are those of op doctor, each with what to do", async () => {
    type Doctor = { findings: { isFault: boolean; finding: string; advice: string }[] };
    const { findings } = await op<Doctor>("doctor");
    const text = decode(await page("/"));

    expect(findings.length).toBeGreaterThan(0);
    for (const { finding, advice } of findings) {
      expect.soft(text).toContain(finding);
      expect.soft(text).toContain(advice);
    }
    const faults = findings.filter(({ isFault }) => isFault).length;
    expect(text).toContain(`<data id="faults" value="${faults}">`);
  });

  it("of jobs are what their processes stored, added up, and op doctor names those that fail", async () => {
    const run = { startedAt: new Date(), durationMs: 1_250, failure: null, nextAt: null };
    const works = { ...run, name: "rarity", part: "", runs: 3, failures: 0 };
    const failure = "node is away";
    const fails = { ...run, name: "royalties", part: "1", runs: 2, failures: 1, failure };
    await storeJobFigures(database.db, [works, fails]);
    await storeJobFigures(database.db, [works]);
    const text = await page("/work");
    const shown = cellsOf(text, "Jobs").map((cells) => [...cells.slice(0, 5), ...cells.slice(6)]);
    expect(shown).toEqual([
      ["royalties", "1", "2", "1", "1.3 s", "when something happens", "fails node is away"],
      ["rarity", "", "6", "0", "1.3 s", "when something happens", "works"],
    ]);
    const { findings } = await op<{ findings: unknown[] }>("doctor");
    expect(findings).toContainEqual(
      expect.objectContaining({ about: "job royalties 1", finding: "failed: node is away" }),
    );
  });

  it("of equal problems are one, with the way to start what mends them", async () => {
    const run = { startedAt: new Date(), durationMs: 5, runs: 1, failures: 1, nextAt: null };
    const fails = { ...run, name: "prices", failure: "no source answers" };
    await storeJobFigures(database.db, [
      { ...fails, part: "apecoin" },
      { ...fails, part: "ethereum" },
    ]);
    const change = (parameters: string) =>
      sql`update engine.checkpoint set parameters = ${parameters} where projection = ${schemaOf("activity")}`.execute(
        database.db,
      );
    const { rows } = await sql<{ parameters: string }>`
      select parameters from engine.checkpoint where projection = ${schemaOf("activity")}`.execute(
      database.db,
    );
    await change("others");
    const other = await openConsole(database, { runOperation: null });
    const text = decode((await other.get("/")).page);
    await other.close();
    await change(rows[0]?.parameters ?? "");

    expect(text).toContain("<b>job prices apecoin, job prices ethereum</b>");
    expect(text).toContain('href="/actions/new?action=rebuild&target=activity"');
  });

  it("of sources and quarantined facts are those of op", async () => {
    type Sources = { chains: { chainId: number; sources: { source: string; state: string }[] }[] };
    const sources = await op<Sources>("sources");
    expect(
      cellsOf(await page("/chains"), "Sources").map(([chain, source]) => [chain, source]),
    ).toEqual(
      sources.chains.flatMap(({ chainId, sources: all }) =>
        all.map(({ source }) => [`${chainId}`, source]),
      ),
    );
    type Quarantine = {
      quarantined: {
        projection: string;
        error: string;
        fact: { position: number; kind: string };
      }[];
    };
    const { quarantined } = await op<Quarantine>("quarantine", "list");
    expect(quarantined.length).toBeGreaterThan(0);
    expect(
      cellsOf(await page("/projections"), "Quarantined facts").map((cells) => cells.slice(0, 4)),
    ).toEqual(
      quarantined.map(({ projection, error, fact }) => [
        ...[projection, `${fact.position}`, fact.kind, error],
      ]),
    );
  });

  it("of endpoints are those of the API's metrics", async () => {
    const registry = openMetrics();
    const app = express();
    app.use(measureRequests(registry));
    app.get("/:status", (request, response) => {
      response.locals.route = "/one";
      response.status(Number(request.params.status)).end();
    });
    const api = await listen(app, "127.0.0.1", 0);
    for (const status of [200, 200, 404, 503])
      await fetch(`http://127.0.0.1:${api.port}/${status}`);
    const metrics = createServer(
      (_, response) => void registry.metrics().then((text) => response.end(text)),
    );
    await once(metrics.listen(0, "127.0.0.1"), "listening");
    const { port } = metrics.address() as AddressInfo;
    const other = await openConsole(database, { metricsUrl: `http://127.0.0.1:${port}/metrics` });
    const text = (await other.get("/endpoints")).page;
    await Promise.all([other.close(), api.close()]);
    metrics.close();

    const rows = cellsOf(text, "Requests by path");
    expect(
      rows.map(([path, requests, , , , refused, failed]) => [path, requests, refused, failed]),
    ).toEqual([["GET /one", "4", "1 25%", "1 25%"]]);
    expect(rows[0]?.[3]).toMatch(/^\d+ ms$/);
  });

  it("of the database are those of SQL", async () => {
    const { rows } = await sql<{ name: string }>`
      select regexp_replace(format('%I.%I', schemaname, relname), '^log.fact_0$', 'log.fact') as name
      from pg_stat_user_tables where relname <> 'fact' order by pg_total_relation_size(relid) desc, 1 limit 20`.execute(
      database.db,
    );
    const text = await page("/database");

    expect(
      cellsOf(text, "Largest tables")
        .map(([name]) => name)
        .toSorted(),
    ).toEqual(rows.map(({ name }) => name).toSorted());
    const connections = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'test'`.execute(database.db);
    const shown = cellsOf(text, "Connections").filter(([application]) => application === "test");
    const total = shown.reduce((sum, cells) => sum + Number(cells[3]), 0);
    // The one that asked does not count itself.
    expect(total).toBeGreaterThanOrEqual((connections.rows[0]?.count ?? 0) - 2);
  });

  it("of the log are its newest facts, by kind and chain, and how many of a kind come in a second", async () => {
    const head = await readLogHead(database.db);
    const newest = cellsOf(await page("/log"), "Facts, newest first");
    expect(newest[0]?.[0]).toBe(`${head}`);
    const transfers = cellsOf(
      await page("/log?kind=erc721_transfer&chain=1"),
      "Facts, newest first",
    );
    expect(new Set(transfers.map((cells) => cells[1]))).toEqual(new Set(["erc721_transfer"]));
    expect(transfers.length).toBe(12);

    await console.sample(new Date(Date.now() - 60_000));
    await appendTrades(database.db, 8, 9);
    const counted = cellsOf(await page("/log"), `Facts after position ${head} by kind`);
    expect(counted.map((cells) => cells.slice(0, 2))).toEqual([
      ["erc721_transfer", "4"],
      ["order_fulfilled", "2"],
    ]);
    await keepUp();
  });
});

describe("lives", () => {
  it("of a row are the facts that op explain prints", async () => {
    type Explained = {
      total: number;
      facts: { position: number; kind: string; counts: boolean }[];
    };
    const explained = await op<Explained>("explain", "token", `1:${apes}:5`);
    const text = await page(`/log/row?what=token&id=1:${apes}:5`);

    expect(cellsOf(text, "Facts of the row").map((cells) => cells.slice(0, 2))).toEqual(
      explained.facts.map(({ position, kind }) => [`${position}`, kind]),
    );
    expect(text).toContain("retracted by ");
    expect((await console.get("/log/row?what=token&id=nonsense")).status).toBe(404);
    expect((await console.get("/log/row?what=__proto__&id=1")).status).toBe(404);
  });

  it("of a fact say what retracted it, and who excludes it", async () => {
    const { rows } = await sql<{ fact: bigint; by: bigint }>`
      select f.position as fact, s.position as by from log.fact f join log.fact s using (block_id)
      where s.kind = 1 and f.kind = 10 order by 1 limit 1`.execute(database.db);
    const [retracted] = rows;
    const text = decode(await page(`/log/${retracted?.fact}`));
    expect(text).toContain("its block was retracted by fact");
    expect(text).toContain(`href="/log/${retracted?.by}"`);
    const quarantined = await page("/log/7");
    expect(decode(quarantined)).toContain("Cannot convert one to a BigInt");
    expect(quarantined).toContain("excluded by sales");
    expect((await console.get("/log/999999")).status).toBe(404);
    expect((await console.get("/log/x")).status).toBe(404);
  });

  it("of blocks that left a chain are drawn as a branch, with a table", async () => {
    const text = await page("/chains");
    expect(text).toContain('aria-label="Chain 1: 2 blocks from 5 on left the chain"');
    const { rows } = await sql<{ position: bigint }>`
      select min(position) as position from log.fact where kind = 1`.execute(database.db);
    const blocks = cellsOf(text, `Blocks of the reorg at position ${rows[0]?.position}`);
    expect(blocks.map(([height, , state]) => [height, state])).toEqual([
      ["5", "left the chain"],
      ["6", "left the chain"],
    ]);
  });
});

/** The fields of the form on the page that asks for a confirmation. */
async function confirmation(
  action: string,
  target: string,
  at = console,
): Promise<Record<string, string>> {
  const { page: text } = await at.get(`/actions/new?${new URLSearchParams({ action, target })}`);
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  return {
    ...Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, decode(value)])),
    ...{ by: "Ada", reason: "a test" },
  };
}

describe("actions", () => {
  const recorded = () => readOperatorActions(database.db, 50);

  it("start nothing from another origin, without a confirmation, or without a name and a reason", async () => {
    const fields = () => confirmation("pause", "listings");
    const { confirmation: ofOther = "" } = await confirmation("resume", "listings");
    const { confirmation: token = "", ...unconfirmed } = await fields();
    const changed = token.replace(/.$/, token.endsWith("A") ? "E" : "A");
    const refusals: [string, Promise<number>][] = [
      ["no origin", console.post(await fields(), { origin: "" })],
      ["another origin", console.post(await fields(), { origin: "https://evil.example" })],
      ["null origin", console.post(await fields(), { origin: "null" })],
      ["another port", console.post(await fields(), { origin: "http://127.0.0.1:1" })],
      ["cross-site", console.post(await fields(), { "sec-fetch-site": "cross-site" })],
      ["same site", console.post(await fields(), { "sec-fetch-site": "same-site" })],
      ["no confirmation", console.post(unconfirmed)],
      ["an empty one", console.post({ ...unconfirmed, confirmation: "" })],
      ["one of another action", console.post({ ...unconfirmed, confirmation: ofOther })],
      ["one of another target", console.post({ ...(await fields()), target: "offers" })],
      ["a changed one", console.post({ ...unconfirmed, confirmation: changed })],
      ["no name", console.post({ ...(await fields()), by: " " })],
      ["no reason", console.post({ ...(await fields()), reason: "" })],
      ["JSON", console.post(await fields(), { "content-type": "application/json" })],
    ];
    for (const [what, status] of refusals) expect.soft(await status, what).toBe(403);
    expect((await console.get("/actions?action=pause&target=listings")).status).toBe(200);
    expect((await console.get("/actions/new?action=drop&target=log")).status).toBe(404);
    expect(await readPaused(database.db)).toEqual([]);
    expect(await recorded()).toEqual([]);
  });

  it("pause and resume as op does, each form once, and become facts that say who, what, when and why", async () => {
    const before = Date.now();
    const fields = await confirmation("pause", "listings");
    expect(await console.post(fields)).toBe(303);
    expect(await readPaused(database.db)).toEqual(["listings"]);
    expect(await console.post(fields)).toBe(403);
    expect(await console.post(await confirmation("resume", "listings"))).toBe(303);
    expect(await readPaused(database.db)).toEqual([]);

    const all = await recorded();
    expect(all).toMatchObject([
      { action: "resume", arguments: ["resume", "listings"], by: "Ada", reason: "a test" },
      { action: "pause", arguments: ["pause", "listings"], address: "127.0.0.1" },
    ]);
    expect(all.map(({ ended }) => ended?.isDone)).toEqual([true, true]);
    expect(all[1]?.startedAt.getTime()).toBeGreaterThanOrEqual(before);
    const history = cellsOf(await page("/actions"), "Actions of operators");
    expect(history.map((cells) => cells.slice(1, 4))).toEqual([
      ["Ada", "op resume listings", "a test"],
      ["Ada", "op pause listings", "a test"],
    ]);
  });

  it("that need more rights are run by the supervisor: a projection is verified and rebuilt", async () => {
    for (const action of ["verify", "rebuild"]) {
      expect(await console.post(await confirmation(action, "floors"))).toBe(303);
      await expect
        .poll(async () => (await recorded())[0]?.ended ?? null, { timeout: 300_000 })
        .not.toBeNull();
      expect((await recorded())[0]).toMatchObject({ action, ended: { isDone: true } });
    }
    const [rebuilt, verified] = await recorded();
    const text = decode(await page(`/actions/${rebuilt?.id}`));
    expect(text).toContain("floors rebuilt");
    expect(text).not.toContain("Run again");
    expect((await console.get("/actions/unknown")).status).toBe(404);
    expect(verified?.ended?.output).toContain("no row differs");
    expect(rebuilt?.ended?.output).toContain("floors rebuilt");
    type Status = { projections: { name: string; previous: unknown }[] };
    const { projections } = await op<Status>("status");
    expect(projections.find(({ name }) => name === "floors")?.previous).not.toBeNull();
  });

  it("that failed say why, and can be run again", async () => {
    const failing = await openConsole(database, {
      runOperation: async () => ({ code: 1, output: "the disk is full" }),
    });
    expect(await failing.post(await confirmation("verify", "floors", failing))).toBe(303);
    await expect.poll(async () => (await recorded())[0]?.ended ?? null).not.toBeNull();
    const [failed] = await recorded();
    const text = decode((await failing.get(`/actions/${failed?.id}`)).page);
    await failing.close();
    expect(text).toMatch(/Why it failed.*the disk is full/s);
    expect(text).toContain('href="/actions/new?action=verify&target=floors"');
  });

  it("are a fixed list of commands with arguments of a fixed form", () => {
    expect(operationArguments({ command: "rebuild", projection: null })).toEqual(["rebuild"]);
    const commands = [
      ...["drop", "export", "keys"].map((command) => ({ command, projection: null })),
      { command: "rebuild", projection: "--anew" },
      { command: "release", position: "1 --projection", projection: null },
    ];
    for (const run of commands) {
      let answered = false;
      const operations = openOperations(
        { orphanGuard, sink: () => {}, logger: pino({ level: "silent" }) },
        {},
      );
      operations.onMessage({ operation: { id: "1", run } }, () => {
        answered = true;
      });
      expect(answered).toBe(false);
    }
  });

  it("cannot be started where no supervisor runs commands: the page names the command", async () => {
    const alone = await openConsole(database);
    const { page: text } = await alone.get("/actions/new?action=rebuild&target=sales");
    expect(text).toContain("npm run op -- rebuild sales");
    expect(text).not.toContain("<form");
    await alone.close();
  });
});

describe("access", () => {
  it("is refused under another host's name, which a page of another site could give it", async () => {
    const { port } = new URL(console.url);
    const status = (host: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          { port, host: "127.0.0.1", path: "/", headers: { host } },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        sent.once("error", reject).end();
      });
    expect(await status(`localhost:${port}`)).toBe(200);
    expect(await status(`rebound.example:${port}`)).toBe(403);
  });

  it("with a password is for those who know it, and guessing ends", async () => {
    const password = "a password of tests";
    const settings = { OPERATOR_HOST: "0.0.0.0", OPERATOR_PASSWORD: password };
    // Guesses are counted in a minute, which must not end between them.
    const at = new Date();
    const closed = await openConsole(database, { settings, now: () => at });
    const as = (text: string) => ({
      authorization: `Basic ${Buffer.from(text).toString("base64")}`,
    });
    for (const path of ["/", "/actions", "/metrics", "/assets/console.js", "/nowhere"]) {
      expect((await closed.get(path)).status).toBe(401);
    }
    expect((await closed.get("/", as(`Ada:${password}`))).status).toBe(200);
    const form = await closed.get("/actions/new?action=pause&target=offers", as(`Ada:${password}`));
    expect(form.page).toContain("You are Ada");
    for (let tries = 0; tries < 25; tries += 1) await closed.get("/", as("Ada:wrong"));
    expect((await closed.get("/", as("Ada:wrong"))).status).toBe(429);
    await closed.close();
  });

  it("has a policy that lets only its own scripts, styles and forms work, and nothing is stored", async () => {
    const response = await fetch(`${console.url}/`);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy.split(";").toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect((await console.get("/metrics")).status).toBe(502);
    expect((await console.get("/healthz")).status).toBe(200);
  });
});
