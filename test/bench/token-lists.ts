import { Agent } from "node:http";
import { sql } from "kysely";
import { parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { criteriaRoot } from "#projections/domain/seaport/criteria.ts";
import { openDatabase } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
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
 * other; then others on the same lists, sent again with their ids.
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
        const alice = openTrader({ baseUrl, chainId, client, account: accounts.alice });
        const agent = new Agent({ keepAlive: true });
        const post = async (tokenIds: readonly bigint[], extraWei: bigint) => {
          const unitPriceWei = parseEther("0.1") + extraWei * 10_000n;
          const input = { contract: contracts.punks, unitPriceWei };
          const order = await alice.compose(input, "collection");
          const seaport = await alice.sign(onRoot(order, criteriaRoot(tokenIds)));
          const body = { chainId, seaport, criteria: { tokenIds: tokenIds.map(String) } };
          return timePost(agent, `${baseUrl}/v1/orders/bids`, body);
        };
        const figures: Figure[] = [];
        for (const [name, idOf] of shapes) {
          const all = Array.from({ length: warmUps + lists }, (_, list) =>
            Array.from({ length: idsOfList }, (_, n) => idOf(list, n)),
          );
          for (const [again, of] of ["new", "known"].entries()) {
            const ms: number[] = [];
            for (const [list, ids] of all.entries()) ms.push(await post(ids, BigInt(again + list)));
            figures.push(
              ...percentileFigures(
                `token-lists, ${of}, ${name},`,
                ms.slice(warmUps),
                [50, 95].map((percent) => ({ percent, goalMs })),
                `bids on ${lists} lists of ${idsOfList} ids`,
              ),
            );
          }
        }
        agent.destroy();
        const stored = await countSets(databaseUrl);
        const perList = stored / (shapes.length * (warmUps + lists));
        const size = "two bids on each";
        const goal = { unit: "ratio", atMost: 1 } as const;
        return [...figures, medianFigure("token-lists, stored per list", [perList], goal, size)];
      },
      quotas,
    );
  });
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
