import { Argument, type Command } from "commander";
import type { Hex } from "viem";
import { chainIds } from "../../abis/deployments.ts";
import { findCollection } from "../../projections/collections/read-reference.ts";
import type { Database } from "../../projections/database.ts";
import { readCheckpoints } from "../../projections/engine/checkpoint.ts";
import {
  type About,
  type PlacedFact,
  readFactsBehind,
} from "../../projections/log/facts-behind.ts";
import { readToken } from "../../projections/ownership/read.ts";
import { findSales } from "../../projections/sales/find-sale.ts";
import type { Config } from "../config.ts";
import { linksOf } from "./explorers.ts";
import { lineOf, presentFact } from "./fact-lines.ts";
import { withDatabase } from "./open-database.ts";
import { print, stringify } from "./output.ts";

const MOST = 1_000;

/** A row, and the facts it was made of. */
type Subject = { projection: string; rows: unknown[]; about: About };
type Find = (db: Database, id: string, refuse: (words: string) => never) => Promise<Subject | null>;

const finders: Record<string, Find> = { sale: findSale, token: findToken, collection: findListed };

/** `op explain sale|token|collection <id>` */
export function addExplain(program: Command): void {
  program
    .command("explain")
    .description("print the facts behind a row, in the order of their chain")
    .addArgument(new Argument("<what>").choices(Object.keys(finders)))
    .argument(
      "<id>",
      "sale: its saleId; token: chain:contract:id; collection: chain:slug or address",
    )
    .option("--json", "for machines")
    .action(async (what: string, id: string, { json }: { json?: boolean }, command: Command) => {
      const refuse = (words: string) => command.error(words, { exitCode: 2 });
      await withDatabase("explain", async ({ db, config }) => {
        const subject = await finders[what]?.(db, id, refuse);
        if (subject === null || subject === undefined) {
          process.stderr.write(`there is no ${what} ${id}\n`);
          process.exitCode = 1;
          return;
        }
        const position = (await readCheckpoints(db)).get(subject.projection)?.position ?? 0n;
        const { total, facts } = await readFactsBehind(db, subject.about, { position, most: MOST });
        const explained = facts.map((fact) => ({ fact, links: linksFor(config, fact) }));
        const content = {
          what,
          id,
          position: Number(position),
          rows: subject.rows,
          total: Number(total),
          facts: explained.map(({ fact, links }) => ({ ...presentFact(fact), links })),
        };
        const untold = Number(total) - facts.length;
        print(json, content, [
          ...subject.rows.map((row) => stringify(row)),
          `${total} facts, as they count at position ${position} of ${subject.projection}:`,
          ...explained.flatMap(({ fact, links }) => linesOf(fact, links)),
          ...(untold > 0 ? [`… and ${untold} more`] : []),
        ]);
      });
    });
}

function linksFor(config: Config, { chainId, block, transactionHash }: PlacedFact) {
  if (chainId === null || block === null) return null;
  return linksOf(config, { chainId, block: block.number, transaction: transactionHash });
}

function linesOf(fact: PlacedFact, links: ReturnType<typeof linksOf>): string[] {
  const { block, transactionHash } = fact;
  return [
    `${verdictOf(fact)}  ${lineOf(fact)}`,
    ...(block === null ? [] : [`    block ${block.hash}  ${links?.block ?? ""}`.trimEnd()]),
    ...(transactionHash === null
      ? []
      : [`    transaction ${transactionHash}  ${links?.transaction ?? ""}`.trimEnd()]),
  ];
}

function verdictOf({ counts, droppedAt }: PlacedFact): string {
  if (counts) return "counts";
  return droppedAt === null ? "not read yet" : `block dropped by ${droppedAt}`;
}

async function findSale(
  db: Database,
  id: string,
  refuse: (words: string) => never,
): Promise<Subject | null> {
  if (!/^0x[0-9a-f]{64}$/i.test(id)) refuse("a saleId is 0x and 64 hex digits");
  const found = await findSales(db, id.toLowerCase() as Hex);
  if (found.length === 0) return null;
  return { projection: "sales", rows: found.map(({ row }) => row), about: { transactions: found } };
}

async function findToken(
  db: Database,
  id: string,
  refuse: (words: string) => never,
): Promise<Subject | null> {
  const [, chain, contract, token] = /^(\d+):(0x[0-9a-f]{40}):(\d{1,78})$/i.exec(id) ?? [];
  if (chain === undefined || contract === undefined || token === undefined) {
    return refuse("a token is chain:contract:id, as in 1:0xbc4c…f13d:7");
  }
  const found = await findCollection(db, Number(chain), contract);
  const contractId = found?.contractId ?? null;
  if (contractId === null) return null;
  const row = await readToken(db, [contractId], BigInt(token));
  return {
    projection: "ownership",
    rows: row === null ? [] : [row],
    about: { token: { contractId, tokenId: BigInt(token) } },
  };
}

async function findListed(
  db: Database,
  id: string,
  refuse: (words: string) => never,
): Promise<Subject | null> {
  const [, chain, key] = /^(\d+):([\w.-]{1,200})$/.exec(id) ?? [];
  if (key === undefined || !chainIds.some((one) => `${one}` === chain)) {
    return refuse(`a collection is chain:slug or chain:address; chains are ${chainIds.join(", ")}`);
  }
  const found = await findCollection(db, Number(chain), key);
  if (found === null) return null;
  return { projection: "collections", rows: [found], about: { collection: found.contractIds } };
}
