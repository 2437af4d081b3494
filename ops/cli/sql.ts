import type { Command } from "commander";
import type { Market } from "#api/orders/market.ts";
import { routes } from "#api/routes.ts";
import type { Context, V1Route } from "#api/v1/context.ts";
import { projectionNames } from "#projections/all.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { readCheckpoints, type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import { applyWindow, handlesAny } from "#projections/engine/tick.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import type { Config } from "../config/config.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { type Opened, withDatabase } from "./open-database.ts";
import { type JsonFlag, print } from "./output.ts";

/** `op sql listings`, `op sql '/v1/sales?chainId=1'` */
export function addSql(program: Command): void {
  program
    .command("sql")
    .description(
      "print the statements of a projection or of a GET request, as PostgreSQL gets them",
    )
    .argument(
      "<what>",
      `a projection (${projectionNames.join(", ")}) or a path of /v1 with its query`,
    )
    .action(async (what: string, { json }: JsonFlag, command: Command) => {
      await withDatabase("sql", async (opened) => {
        const statements = await readStatements(opened, what);
        if (statements === undefined) {
          return command.error(`no such projection or path: ${what}`, { exitCode: 2 });
        }
        print(json, { statements }, statements);
      });
    });
}

type StatementSource = Pick<Opened, "url" | "config">;

/** The statements of a projection or a path, each as it can be pasted; undefined: there is no such one. */
export async function readStatements(
  source: StatementSource,
  what: string,
): Promise<string[] | undefined> {
  return (await captureOf(source, what))?.map(printed);
}

async function captureOf(
  { url, config }: StatementSource,
  what: string,
): Promise<Statements | undefined> {
  if (what.startsWith("/")) {
    const request = findRequest(routes, what);
    return request && (await captureRequest(url, request, (db) => contextOf(db, config)));
  }
  const projection = configuredProjections(config).find(({ name }) => name === what);
  return projection && (await captureApply(url, targetOf(projection)));
}

/** At the left margin and without empty lines. */
function printed(statement: string): string {
  const lines = statement.split("\n").filter((line) => line.trim() !== "");
  // The text of a statement in the source often begins where its next lines do not.
  const [first = "", ...others] = lines;
  const margin = Math.min(...others.map((line) => line.search(/\S/)), 80);
  return `${[first.trim(), ...others.map((line) => line.slice(margin))].join("\n")};\n`;
}

/** What endpoints need that only read. */
const contextOf = (db: Database, { chains, market }: Config): Context => ({
  db,
  siteUrl: "http://127.0.0.1",
  media: { baseUrl: "http://127.0.0.1", ipfsGateway: "", arweaveGateway: "" },
  chains: chains.map(({ chainId }) => chainId),
  readStatus: refuseService,
  market: { ...marketAtRest, writer: db, prefix: market.prefix, quotas: market.quotas },
  now: () => new Date(),
});

const marketAtRest: Omit<Market, "writer" | "prefix" | "quotas"> = {
  terms: refuseService,
  chains: [],
  chain: refuseService,
  queryChain: refuseService,
  indexesAllContracts: refuseService,
  isPaused: async () => false,
  partners: [],
  admit: refuseService,
  readOutcomes: refuseService,
  waitUntilProjected: refuseService,
  writtenPosition: refuseService,
  close: refuseService,
};

function refuseService(): never {
  throw new Error("this path asks more than the database");
}

/** Statements in the order in which they were first sent, each once, with `$1` for values. */
type Statements = readonly string[];

/** Ends a transaction whose work is not to stay. */
class Undone extends Error {}

/** What a projection sends to apply a window in which nothing changed. */
async function captureApply(url: string, target: Target): Promise<Statements> {
  return await capture(url, async (db, begin) => {
    const head = await readLogHead(db);
    const kinds = new Set(Object.values(factKind).filter((kind) => isHandled(target, kind)));
    const applying = db.transaction().execute(async (session) => {
      const window = await openWindow(session, { after: head, upTo: head });
      const checkpoints = await readCheckpoints(session);
      begin();
      const open = { checkpoints, entries: [], window: { ...window, kinds } };
      await applyWindow(session, target, open);
      throw new Undone();
    });
    await applying.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  });
}

const isHandled = ({ projection }: Target, kind: number): boolean =>
  handlesAny(projection, new Set([kind]));

/** What a request of `/v1` sends. Throws with the reason when the route refuses it. */
async function captureRequest(
  url: string,
  { route, params, query }: V1Request,
  contextOf: (db: Database) => Context,
): Promise<Statements> {
  return await capture(url, async (db, begin) => {
    begin();
    const input = { params, query, body: undefined, address: "127.0.0.1", key: null };
    const answer = await route.answer(input, contextOf(db));
    if (isRejection(answer) && answer.rejected !== "not_found") throw new Error(answer.message);
  });
}

type V1Request = {
  readonly route: V1Route;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** The route that answers a path with its query; undefined: there is none that only reads. */
function findRequest(routes: readonly V1Route[], address: string): V1Request | undefined {
  const { pathname, searchParams } = new URL(address, "http://api");
  for (const route of routes) {
    if (route.method !== "get") continue;
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    const match = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`).exec(pathname);
    if (match === null) continue;
    const params = Object.fromEntries(names.map((name, nth) => [name, match[nth + 1] ?? ""]));
    return { route, params, query: Object.fromEntries(searchParams) };
  }
  return undefined;
}

/** Statements from `begin` on, but those that begin and end transactions. */
async function capture(
  url: string,
  work: (db: Database, begin: () => void) => Promise<void>,
): Promise<Statements> {
  const statements = new Set<string>();
  let isBegun = false;
  const onStatement = (text: string) => {
    if (isBegun && !/^\s*(begin|commit|rollback)\b/i.test(text)) statements.add(text);
  };
  // One connection: what is sent at a time comes in one order.
  const options = { url, applicationName: "op sql", max: 1, onIdleError: () => {} };
  const db = openDatabase({ ...options, onStatement });
  try {
    await work(db, () => {
      isBegun = true;
    });
  } finally {
    await db.destroy();
  }
  return [...statements];
}
