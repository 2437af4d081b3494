import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { isAddressEqual, size } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ChainId, chainIds } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import { getJson, until } from "../support/database/pipeline.ts";
import { descendantsOf } from "../support/database/processes.ts";
import { tableOf } from "../support/http/page-tables.ts";
import { runOp } from "../support/processes/op.ts";
import {
  readInstallation,
  type StartedService,
  startService,
} from "../support/processes/start-service.ts";
import { describeRestart } from "./first-start/restart.ts";

const root = resolve(import.meta.dirname, "../..");
const minuteMs = 60_000;
/** What happens to an order every eight seconds is drawn: this bounds the waiting, it does not say how long it takes. */
const changeWithinMs = 10 * minuteMs;
/** A plain signature has at most so many bytes; one of a bulk order has a Merkle proof behind it. */
const plainSignatureBytes = 65;

let directory: string;
let orphanGuard: OrphanGuard;
let service: StartedService;
let startedAt = 0;

/** The service as a newcomer starts it, on a terminal; only this test's own requests are not limited. */
beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  directory = await mkdtemp(join(tmpdir(), "first-start-"));
  startedAt = performance.now();
  service = await startService({
    dataDir: directory,
    orphanGuard,
    settings: { LOG_FORMAT: "pretty", OPERATOR_CONSOLE: "on" },
  });
});

afterAll(async () => {
  await service?.end();
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

const Order = z.looseObject({
  status: z.string(),
  maker: z.templateLiteral(["0x", z.string()]),
  standard: z.string(),
  quantity: z.number(),
  expiresAt: z.string(),
});
const Listing = Order.extend({ askId: z.string(), marketplace: z.string() });
const Bid = Order.extend({ bidId: z.string(), kind: z.string() });
const Sale = z.looseObject({
  marketplace: z.string(),
  protocol: z.looseObject({ name: z.string() }),
  usd: z.number().nullable(),
});
const Floor = z.looseObject({ priceWei: z.string() });
const Collection = z.looseObject({
  slug: z.string(),
  stats: z.looseObject({ floor: Floor.nullable() }),
});
const Token = z.looseObject({ rarity: z.looseObject({ rank: z.number() }).nullable() });
const History = z.looseObject({ candles: z.array(z.unknown()) });

async function read<Data extends z.ZodType>(path: string, data: Data): Promise<z.output<Data>> {
  const { status, body } = await getJson(service.baseUrl, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return data.parse(body.data);
}

const readListings = (chainId: ChainId, more = "") =>
  read(`/v1/listings?chainId=${chainId}&per_page=100${more}`, z.array(Listing));
const readBids = (chainId: ChainId) =>
  read(`/v1/bids?chainId=${chainId}&per_page=100`, z.array(Bid));

it("each process has the secrets that it uses in its environment, and no other's", () => {
  const secretsOf = (pid: number) =>
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((entry) => entry.slice(0, entry.indexOf("=")))
      .filter((name) => /^(PARTNER_[A-Z]_(URL|KEY)|DATABASE_URL_\w+|OPERATOR_PORT)$/.test(name));
  const held = descendantsOf(service.pid).flatMap(({ pid, command }) => {
    const [, role] = / --only (\w+) --name/.exec(command) ?? [];
    return role === undefined ? [] : [[role, secretsOf(pid).sort()] as const];
  });
  const partners = ["PARTNER_A_URL", "PARTNER_B_URL"];
  expect(Object.fromEntries(held)).toEqual({
    indexer: [],
    projector: [],
    jobs: partners,
    api: partners,
    console: ["OPERATOR_PORT"],
  });
});

describe.each(chainIds)("soon after the first start, chain %i shows", (chainId) => {
  const native: [string, (listing: z.output<typeof Listing>) => unknown][] = [
    ["at a fixed price for days", ({ expiresAt }) => millisecondsUntil(expiresAt) > 60 * minuteMs],
    [
      "that expires within minutes",
      ({ expiresAt }) => millisecondsUntil(expiresAt) < 15 * minuteMs,
    ],
    ["of several units", ({ quantity }) => quantity > 1],
    ["of a contract's", ({ maker }) => isAddressEqual(maker, contracts.smartWallet)],
    ["of a bulk order", ({ askId }) => isOfBulkOrder(chainId, askId)],
  ];

  it.each(native)("an active native listing %s", async (_kind, isOne) => {
    await until("such a listing", async () => {
      for (const listing of await readListings(chainId, "&marketplace=native"))
        if (await isOne(listing)) return listing;
      return undefined;
    });
  });

  it.each(["opensea", "magiceden"])("listings of %s beside them", async (marketplace) => {
    const shown = () => readListings(chainId, `&marketplace=${marketplace}`);
    await until("a listing", async () => (await shown()).length > 0);
  });

  it.each([
    ["for one token", { kind: "single-token", isForMany: false }],
    ["for any token of a collection", { kind: "collection", isForMany: false }],
    ["for several tokens of a collection", { kind: "collection", isForMany: true }],
    ["for one of a list of tokens", { kind: "token-list", isForMany: false }],
    ["for a token with a trait", { kind: "trait", isForMany: false }],
  ])("an active bid %s", async (_kind, wanted) => {
    await until("such a bid", async () =>
      (await readBids(chainId)).some(
        ({ kind, quantity }) => kind === wanted.kind && quantity > 1 === wanted.isForMany,
      ),
    );
  });

  it("sales of several marketplaces by name, each with its value in USD", async () => {
    const sales = await until("prices of every sale", async () => {
      const found = await read(`/v1/sales?chainId=${chainId}&per_page=100`, z.array(Sale));
      return found.every(({ usd }) => usd !== null) && found;
    });
    const names = new Set(sales.map(({ marketplace }) => marketplace));
    expect(names).toContain("native");
    expect(names).toContain("opensea");
  });

  it.each(chainId === 1 ? ["blur", "sudoswap"] : [])("sales of %s beside them", async (name) => {
    await until("such a sale", async () => {
      const path = `/v1/sales?chainId=${chainId}&protocol=${name}`;
      const found = await read(path, z.array(Sale));
      return found.length > 0 && found.every(({ protocol }) => protocol.name === name);
    });
  });

  it("floors, and their candles", async () => {
    const listed = await until("a floor", async () => {
      const found = await read(`/v1/collections?chainId=${chainId}`, z.array(Collection));
      return found.find(({ stats }) => stats.floor !== null);
    });
    await until("a candle", async () => {
      // The answer is cached for a minute, by its parameters.
      const { candles } = await read(
        `/v1/collections/${listed.slug}/floor-history?chainId=${chainId}`,
        History,
      );
      return candles.length > 0;
    });
  });

  it("days of coin prices, and tokens by rarity", async () => {
    const type = chainId === 1 ? "ethereum" : "apecoin";
    await until("days of prices", async () => {
      const { candles } = await read(`/v1/crypto/history?type=${type}&days=7`, History);
      return candles.length > 24;
    });
    await until("ranks", async () => {
      const path = `/v1/collections/local-punks/tokens?chainId=${chainId}&sort=rarity`;
      const tokens = await read(path, z.array(Token));
      return tokens.length > 0 && tokens.every(({ rarity }) => rarity !== null);
    });
  });

  afterAll(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stdout.write(`chain ${chainId}: all of it ${seconds} s after the first start\n`);
  });
});

const Chains = z.looseObject({
  chains: z.array(
    z.looseObject({
      history: z
        .looseObject({ share: z.number().nullable(), repaired: z.int(), unrepaired: z.int() })
        .nullable(),
    }),
  ),
});

describe.each(chainIds)("after that, chain %i shows", (chainId) => {
  it("a history that is proved, with nothing that the log lacked", async () => {
    const history = await until("a proved history", async () => {
      const { chains } = await read(`/v1/status?chainId=${chainId}`, Chains);
      const [chain] = chains;
      return chain?.history?.share === 1 && chain.history;
    });
    expect(history).toMatchObject({ evidence: "receipts", repaired: 0, unrepaired: 0 });
  });

  it("an order book that goes on changing", { timeout: 2 * changeWithinMs }, async () => {
    const before = await readListings(chainId, "&marketplace=native");
    const known = new Set(before.map(({ askId }) => askId));
    let isOneNew = false;
    let hasOneEnded = false;
    await until(
      "a new listing and the end of one",
      async () => {
        const now = await readListings(chainId, "&marketplace=native");
        const active = new Set(now.map(({ askId }) => askId));
        isOneNew ||= now.some(({ askId }) => !known.has(askId));
        hasOneEnded ||= [...known].some((askId) => !active.has(askId));
        return isOneNew && hasOneEnded;
      },
      changeWithinMs,
    );
  });
});

/** The address of the operator's console, as the first screen names it. */
const consoleUrl = (): string =>
  /operator's console\s+(http:\S+)/.exec(service.output.join("\n"))?.[1] ?? "";

it("each process uses the database as a user of its own, who lacks no right", async () => {
  // Its connections end while nobody looks.
  expect((await fetch(consoleUrl())).status).toBe(200);
  const client = new pg.Client(readInstallation(directory).DATABASE_URL_ADMIN);
  await client.connect();
  const { rows } = await client.query<{ name: string; role: string }>(
    `select distinct application_name as name, usename as role from pg_stat_activity
     where application_name in ('api', 'api orders', 'projector', 'jobs', 'indexer', 'console', 'supervisor') order by 1, 2`,
  );
  await client.end();
  expect(new Set(rows.map(({ name, role }) => `${name}: ${role}`))).toEqual(
    new Set([
      ...["api: service_api", "api orders: service_api", "indexer: service_indexer"],
      ...["jobs: service_jobs", "projector: service_projector", "console: service_console"],
    ]),
  );
  const log = await readFile(join(directory, "postgres.log"), "utf8");
  expect(log.split("\n").filter((line) => /permission denied|must be owner/.test(line))).toEqual(
    [],
  );
});

it("op doctor finds nothing, not even a note", async () => {
  const { code, stdout } = await runOp({ DATA_DIR: directory }, "doctor");
  expect([code, stdout.trim()]).toEqual([0, "no problem found"]);
});

describe("the first screen", () => {
  it("names what runs and where, and every command that it prints answers 200", async () => {
    const screen = service.output.join("\n");
    const first = screen.indexOf(`ready ${service.baseUrl}`);
    const text = screen.slice(first);
    for (const path of ["/docs", "/developers", "/v1/status"])
      expect(text).toContain(`${service.baseUrl}${path}`);
    expect(text).toMatch(/embedded PostgreSQL/);
    expect(text).toMatch(/Ctrl-C/);
    const commands = curlLines(text);
    expect(commands.length).toBeGreaterThanOrEqual(4);
    for (const command of commands)
      expect([command, await statusOf(command)]).toEqual([command, "200"]);
  });
});

describe("the operator's console", () => {
  it("is on a listener of its own, has every page, and passes the API's metrics on", async () => {
    const url = consoleUrl();
    expect(new URL(url).origin).not.toBe(new URL(service.baseUrl).origin);
    for (const path of ["", "/chains", "/log", "/projections", "/work", "/callers", "/database"]) {
      expect.soft([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    }
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("\nindexer_block{");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const processes = tableOf(await (await fetch(`${url}/work`)).text(), "Processes");
    expect(processes.map(({ key }) => key)).toEqual(
      expect.arrayContaining(["indexer-1", "projector", "jobs", "api", "console"]),
    );
    for (const { cells } of processes) expect.soft(cells[2]).toMatch(/^[1-9]\d+\.\d MB$/);
    const { status } = await getJson(service.baseUrl, "/actions");
    expect(status).toBe(404);
  });

  it("counts what every process asks of nodes and of partners", async () => {
    await until("counts of all", async () => {
      const page = await (await fetch(`${consoleUrl()}/upstream`)).text();
      if (!page.includes("Calls by node") || !page.includes("Requests to partners")) return false;
      const nodes = tableOf(page, "Calls by node").map(({ cells }) => cells);
      const roles = new Set(nodes.map(([, role]) => role));
      const partners = new Set(tableOf(page, "Requests to partners").map(({ cells }) => cells[0]));
      return (
        ["indexer", "jobs", "api", "console"].every((role) => roles.has(role)) &&
        ["opensea", "magiceden"].every((one) => partners.has(one))
      );
    });
  });
});

describe("the minute's tour of the README", () => {
  it("has only commands that answer 200, for an order that there is", async () => {
    const listing = await until("a listing", async () => (await readListings(33139))[0]);
    const commands = curlLines(await readTour()).map((command) =>
      command
        .replace("http://127.0.0.1:4000", service.baseUrl)
        .replace("<askId>", listing.askId)
        .replace("<address>", contracts.smartWallet),
    );
    expect(commands.length).toBeGreaterThanOrEqual(5);
    for (const command of commands)
      expect([command, await statusOf(command)]).toEqual([command, "200"]);
  });

  it("shows answers of the shape that they have", async () => {
    const [command = ""] = curlLines(await readTour());
    const shown = JSON.parse(/```json\n([\s\S]+?)```/.exec(await readTour())?.[1] ?? "");
    const url = /'([^']+)'/.exec(command)?.[1] ?? "";
    const { body } = await getJson(service.baseUrl, new URL(url).pathname + new URL(url).search);
    expect(pathsOf(body)).toEqual(expect.arrayContaining(pathsOf(shown)));
  });
});

describeRestart(
  () => ({ dataDir: directory, orphanGuard }),
  () => service,
);

const millisecondsUntil = (time: string): number => Date.parse(time) - Date.now();

async function isOfBulkOrder(chainId: ChainId, askId: string): Promise<boolean> {
  const Components = z.looseObject({ signature: z.templateLiteral(["0x", z.string()]) });
  const path = `/v1/orders/asks/${askId}/components?chainId=${chainId}`;
  return size((await read(path, Components)).signature) > plainSignatureBytes;
}

const curlLines = (text: string): string[] =>
  text.split("\n").flatMap((line) => /^\s*(curl .+)$/.exec(line)?.[1] ?? []);

/** Runs a command line as a person does; its HTTP status. */
async function statusOf(command: string): Promise<string> {
  const line = `${command} --silent --output /dev/null --write-out '%{http_code}'`;
  return (await promisify(execFile)("/bin/sh", ["-c", line])).stdout;
}

async function readTour(): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  return /## A minute's tour([\s\S]+?)\n## /.exec(readme)?.[1] ?? "";
}

/** Names of every field, with the type of its value. */
function pathsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return pathsOf(value[0], `${path}[]`);
  if (typeof value !== "object" || value === null) return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, one]) => pathsOf(one, `${path}.${name}`));
}
