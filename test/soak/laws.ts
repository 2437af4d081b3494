import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type ChainId, chainIds } from "#chains/index.ts";
import { launch } from "#ops/programs.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { readRunningMarket } from "../hostile-contracts/running-market.ts";
import { getJson } from "../support/database/pipeline.ts";
import { compareOrders, type Disagreement } from "../truth/compare-orders.ts";
import { readStoredOrder, type StoredOrder } from "../truth/stored-order.ts";
import type { SoakMarket } from "./market.ts";

const root = resolve(import.meta.dirname, "../..");

type LawfulMarket = Pick<SoakMarket, "baseUrl" | "rpcUrls" | "environment" | "dataDir">;

/** What must hold after all of it. One line for each law that does not. */
export async function findBrokenLaws(
  market: LawfulMarket,
  report: (line: string) => void,
): Promise<string[]> {
  const broken: string[] = [];
  const check = async (law: string, find: () => Promise<string[]>) => {
    const found = await find();
    report(`  ${found.length === 0 ? "holds" : "BROKEN"}: ${law}`);
    broken.push(...found.map((one) => `${law}: ${one}`));
  };
  await check("each order's status is what the chain does with it", () => findWrongOrders(market));
  await check("each projection is what the log derives", () => operate(market, "verify"));
  for (const chainId of chainIds) {
    const law = `the log of chain ${chainId} is the chain's`;
    await check(law, () => operate(market, "audit", `${chainId}`));
  }
  return broken;
}

/** What a command prints when it finds something; nothing where it exits with 0. */
async function operate({ environment }: LawfulMarket, ...args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, launch("op", ...args), {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, "exit")) as [number | null];
  return code === 0 ? [] : [`op ${args.join(" ")} exited with ${code}\n${(await output).join("")}`];
}

/** What has no event is noticed by the next sweep. */
const sweepsMs = 90_000;
const pauseMs = 3_000;

async function findWrongOrders(market: LawfulMarket): Promise<string[]> {
  const { environment } = await readRunningMarket(market.dataDir);
  const url = environment.DATABASE_URL;
  const db = openDatabase({ url, applicationName: "laws", max: 2, onIdleError: () => {} });
  try {
    const found = await Promise.all(chainIds.map((id) => compareChain({ ...market, db }, id)));
    return found.flat();
  } finally {
    await db.destroy();
  }
}

const now = () => Math.floor(Date.now() / 1_000);

/** People go on trading, so that an order may differ for a moment: wrong is what differs in each comparison. */
async function compareChain(
  { baseUrl, rpcUrls, db }: LawfulMarket & { db: Database },
  chainId: ChainId,
): Promise<string[]> {
  const source = { baseUrl, chainId, rpcUrl: rpcUrls[chainId], db };
  let wrong: Disagreement[] | undefined;
  for (const deadline = Date.now() + sweepsMs; ; await delay(pauseMs)) {
    const orders = await readOpenOrders(source);
    const { disagreements: differing } = await compareOrders(source, orders, now);
    const still = new Set(differing.map(({ order }) => order.id));
    wrong = wrong?.filter(({ order }) => still.has(order.id)) ?? differing;
    if (wrong.length === 0 && orders.length > 0) return [];
    if (Date.now() > deadline) {
      return [
        `${wrong.length} of ${orders.length} orders of chain ${chainId} differ`,
        ...wrong.map(
          ({ order, shown, problem }) => `${order.id} is ${shown.status}, but ${problem}`,
        ),
      ];
    }
  }
}

const Listed = z.array(
  z.looseObject({ askId: z.string().optional(), bidId: z.string().optional() }),
);

/** Every order of the book that is active or could become so. */
async function readOpenOrders(source: {
  baseUrl: string;
  chainId: ChainId;
  db: Database;
}): Promise<StoredOrder[]> {
  const orders: StoredOrder[] = [];
  for (const side of ["listings", "bids"] as const) {
    for (const status of ["active", "inactive"]) {
      for await (const id of readIds(source, side, status)) {
        orders.push(await readStoredOrder(source, side, id));
      }
    }
  }
  return orders;
}

async function* readIds(
  { baseUrl, chainId }: { baseUrl: string; chainId: ChainId },
  side: StoredOrder["side"],
  status: string,
): AsyncGenerator<string> {
  // Partners' bids are not in the book.
  const own = side === "listings" ? "&marketplace=native" : "";
  const path = `/v1/${side}?chainId=${chainId}&status=${status}&per_page=100${own}`;
  for (let cursor: string | undefined; ; ) {
    const { status: code, body } = await getJson(
      baseUrl,
      cursor === undefined ? path : `${path}&cursor=${cursor}`,
    );
    if (code !== 200) throw new Error(`${path}: ${code} ${JSON.stringify(body)}`);
    for (const { askId, bidId } of Listed.parse(body.data)) yield askId ?? bidId ?? "";
    cursor =
      z.looseObject({ next_cursor: z.string().nullish() }).parse(body.meta).next_cursor ??
      undefined;
    if (cursor === undefined) return;
  }
}
