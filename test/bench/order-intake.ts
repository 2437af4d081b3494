import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Market } from "../support/chain/market.ts";
import { openTrader } from "../support/chain/trader.ts";
import { getJson, until } from "../support/database/pipeline.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { withInstallation } from "./installation.ts";

/** Measured right after the start, while statements are first planned, and again later. */
const singles = 500;
const connections = 16;
const bulks = 10;
const bulkSize = 100;
const warmUps = 20;
const singleOrders = warmUps + 3 * singles;
const firstToken = 70_000n;
const mintBatch = 25;
/** Above what one maker, who never traded, and one contract are given here. */
const quotas = {
  ORDER_QUOTA_MAKER: "100000",
  ORDER_QUOTA_CONTRACT: "100000",
  ORDER_BUDGET_NEWCOMERS: "100000",
  ORDER_BUDGET_UNTRADED: "100000",
};

/** Orders of one maker on chain 1, signed in advance: one per POST, then a hundred per POST. */
export function run(): Promise<Figure[]> {
  return withInstallation(async ({ ethereum, whileServing }) => {
    const { chainId, rpcUrl, wsUrl } = ethereum.anvil;
    await ethereum.client.setIntervalMining({ interval: 1 });
    return whileServing(
      [{ chainId, rpcUrl, wsUrl }],
      async (baseUrl) => {
        await ethereum.client.setIntervalMining({ interval: 0 });
        await ethereum.client.setAutomine(true);
        const orders = await signOrders(ethereum, baseUrl, singleOrders + bulks * bulkSize);
        await ethereum.client.setIntervalMining({ interval: 1 });
        const callers = openCallers();
        const post = (path: string, body: unknown, agent = callers[0]) =>
          timePost(agent, baseUrl + path, body);
        const postAll = (some: readonly unknown[]) =>
          inParallel(callers, some, (seaport, agent) =>
            post("/v1/orders/asks", { chainId, seaport }, agent),
          );
        await untilDescribed(baseUrl, firstToken + BigInt(orders.length - 1));
        await postAll(orders.slice(0, warmUps));
        const first = await postAll(orders.slice(warmUps, warmUps + singles));
        await postAll(orders.slice(warmUps + singles, singleOrders - singles));
        const warm = await postAll(orders.slice(singleOrders - singles, singleOrders));
        const bulk: number[] = [];
        for (let start = singleOrders; start < orders.length; start += bulkSize) {
          const listings = orders.slice(start, start + bulkSize).map((seaport) => ({ seaport }));
          bulk.push(await post("/v1/orders/asks/bulk", { chainId, listings }));
        }
        for (const agent of callers) agent.destroy();
        const about = "listings of one maker on chain 1, which mines every second";
        return [
          ...singleFigures("order-intake, single,", warm, 45, about),
          ...singleFigures("order-intake, single, just started,", first, 60, about),
          ...percentileFigures(
            "order-intake, a hundred,",
            bulk,
            [
              { percent: 50, goalMs: 1_000 },
              { percent: 99, goalMs: 1_000 },
            ],
            `${bulks} times ${bulkSize} ${about}`,
          ),
        ];
      },
      quotas,
    );
  });
}

/** Waits until the jobs have fetched the metadata of the minted tokens, which is not to be measured. */
async function untilDescribed(baseUrl: string, tokenId: bigint): Promise<void> {
  const path = `/v1/collections/${contracts.punks}/tokens/${tokenId}?chainId=1`;
  await until(
    "the last token's metadata",
    async () => {
      const { body } = await getJson(baseUrl, path);
      const { data } = body as { data?: { name: string | null } };
      return data !== undefined && data.name !== null;
    },
    120_000,
  );
}

function singleFigures(
  name: string,
  durationsMs: readonly number[],
  goalMs: number,
  about: string,
): Figure[] {
  return percentileFigures(
    name,
    durationsMs,
    [
      { percent: 50, goalMs },
      { percent: 99, goalMs: null },
    ],
    `${durationsMs.length} ${about}, ${connections} callers`,
  );
}

async function signOrders({ client, actors }: Market, baseUrl: string, count: number) {
  const alice = openTrader({ baseUrl, chainId: 1, client, account: accounts.alice });
  await actors.alice.approves(contracts.punks);
  for (let minted = 0; minted < count; minted += mintBatch) {
    await actors.alice.mintsRange(
      contracts.punks,
      firstToken + BigInt(minted),
      BigInt(Math.min(mintBatch, count - minted)),
    );
  }
  const input = { contract: contracts.punks, tokenId: firstToken, unitPriceWei: parseEther("1") };
  const template = await alice.compose(input);
  const orders = [];
  for (let index = 0n; index < count; index += 1n) {
    const [item] = template.components.offer;
    const identifierOrCriteria = `${firstToken + index}`;
    const offer = [{ ...(item as object), identifierOrCriteria }];
    orders.push(await alice.sign({ ...template, components: { ...template.components, offer } }));
  }
  return orders;
}

/** A connection each, from addresses of their own: requests of one caller would wait for one another. */
const openCallers = () =>
  Array.from(
    { length: connections },
    (_, n) => new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.0.${n + 2}` }),
  );

/** Each caller works on one item at a time; results in order. */
async function inParallel<Item>(
  callers: readonly Agent[],
  items: readonly Item[],
  work: (item: Item, caller: Agent) => Promise<number>,
): Promise<number[]> {
  const results: number[] = [];
  let next = 0;
  const runWorker = async (caller: Agent) => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item, caller);
    }
  };
  await Promise.all(callers.map(runWorker));
  return results;
}

/** Milliseconds until the answer is read. Throws unless it is 201. */
export function timePost(agent: Agent | undefined, url: string, body: unknown): Promise<number> {
  const content = JSON.stringify(body);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    request(url, { agent, method: "POST", headers }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 201) resolve(performance.now() - startedAt);
        else reject(new Error(`${url}: ${response.statusCode} ${answer.slice(0, 500)}`));
      }, reject);
    })
      .on("error", reject)
      .end(content);
  });
}
