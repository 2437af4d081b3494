import { Agent } from "node:http";
import { sql } from "kysely";
import { parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { criteriaRoot } from "#projections/domain/seaport/criteria.ts";
import { openDatabase } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import type { Market } from "../support/chain/market.ts";
import { onRoot, openTrader } from "../support/chain/trader.ts";
import { type Figure, medianFigure, percentileFigures } from "./figure.ts";
import { withInstallation } from "./installation.ts";
import { timePost } from "./order-intake.ts";

const idsOfList = 10_000;
const lists = 20;
const warmUps = 3;
const goalMs = 300;
/** Above what one maker is given for lists. */
const quotas = {
  ORDER_QUOTA_MAKER: "1000000",
  ORDER_QUOTA_CONTRACT: "1000000",
  ORDER_BUDGET_NEWCOMERS: "100000000",
  ORDER_BUDGET_UNTRADED: "100000000",
  OFFER_EXPOSURE: "1000000",
};

type Shape = readonly [name: string, idOf: (list: number, n: number) => bigint];
const shapes: readonly Shape[] = [
  ["neighbours", (list, n) => BigInt(list * idsOfList + n)],
  ["each in a row of its own", (list, n) => BigInt(list * idsOfList + n + 1) << 64n],
];

/**
 * Bids of one maker on chain 1, each on a list of 10,000 ids that was never sent nor asked for before, one after the
 * other; then others on the same lists, sent again with their ids. Before them bids on the collection.
 */
export function run(): Promise<Figure[]> {
  return withInstallation(({ ethereum, whileServing }) => {
    const { chainId, rpcUrl, wsUrl } = ethereum.anvil;
    return whileServing(
      [{ chainId, rpcUrl, wsUrl }],
      async (baseUrl, databaseUrl) => {
        const { client, actors } = ethereum;
        await actors.alice.wraps(parseEther("1000"));
        await actors.alice.allows(parseEther("100000"));
        await client.setIntervalMining({ interval: 1 });
        const figures = await measure(openBidder(ethereum, baseUrl));
        const perList = (await countSets(databaseUrl)) / (shapes.length * (warmUps + lists));
        const goal = { unit: "ratio", atMost: 1 } as const;
        const stored = medianFigure(
          "token-lists, stored per list",
          [perList],
          goal,
          "two bids on each",
        );
        return [...figures, stored];
      },
      quotas,
    );
  });
}

/** Milliseconds of the POST of a bid, whose price is by so much above the others. */
type Bidder = (aboveWei: number, tokenIds?: readonly bigint[]) => Promise<number>;

function openBidder({ client }: Market, baseUrl: string): Bidder {
  const chainId = 1;
  const alice = openTrader({ baseUrl, chainId, client, account: accounts.alice });
  const agent = new Agent({ keepAlive: true });
  return async (above, tokenIds) => {
    const unitPriceWei = parseEther("0.1") + BigInt(above) * 10_000n;
    const order = await alice.compose({ contract: contracts.punks, unitPriceWei }, "collection");
    const signed = await alice.sign(
      tokenIds === undefined ? order : onRoot(order, criteriaRoot(tokenIds)),
    );
    const criteria = tokenIds && { criteria: { tokenIds: tokenIds.map(String) } };
    return timePost(agent, `${baseUrl}/v1/orders/bids`, { chainId, seaport: signed, ...criteria });
  };
}

async function measure(bid: Bidder): Promise<Figure[]> {
  const numbers = Array.from({ length: warmUps + lists }, (_, index) => index);
  const inTurn = async (one: (number: number) => Promise<number>) => {
    const ms: number[] = [];
    for (const number of numbers) ms.push(await one(number));
    return ms.slice(warmUps);
  };
  const size = `${lists} bids, one after the other`;
  const noGoal = [{ percent: 50, goalMs: null }];
  const plain = await inTurn((number) => bid(number));
  const figures = percentileFigures("token-lists, without a list,", plain, noGoal, size);
  const goals = [50, 95].map((percent) => ({ percent, goalMs }));
  for (const [name, idOf] of shapes) {
    const idsOf = (list: number) => Array.from({ length: idsOfList }, (_, n) => idOf(list, n));
    for (const [again, of] of ["new", "known"].entries()) {
      const ms = await inTurn((list) => bid(again + list, idsOf(list)));
      figures.push(...percentileFigures(`token-lists, ${of}, ${name},`, ms, goals, size));
    }
  }
  return figures;
}

async function countSets(url: string): Promise<number> {
  const db = openDatabase({ url, applicationName: "bench", onIdleError: () => {} });
  try {
    const { rows } = await sql<{ sets: number }>`
      select count(*)::int as sets from log.fact where kind in ${kindList("token_set_submitted")}`.execute(
      db,
    );
    return rows[0]?.sets ?? 0;
  } finally {
    await db.destroy();
  }
}
