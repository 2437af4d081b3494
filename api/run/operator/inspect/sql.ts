import type { Command } from "commander";
import { projectionNames } from "#projections/all.ts";
import type { Database } from "#projections/log/database.ts";
import { targetOf } from "#projections/engine/checkpoint.ts";
import type { Market } from "#api/orders/market.ts";
import { routes } from "#api/routes.ts";
import type { Context } from "#api/v1/context.ts";
import type { Config } from "#api/run/config/config.ts";
import { captureApply, captureRequest, findRequest, type Statements } from "#api/run/inspection/capture-statements.ts";
import { configuredProjections } from "#api/run/inspection/configured-projections.ts";
import { type Opened, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

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
    .option("--json", "print JSON")
    .action(async (what: string, { json }: { json?: boolean }, command: Command) => {
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
  isPaused: refuseService,
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
