import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Market } from "../support/chain/market.ts";
import { openTrader } from "../support/chain/trader.ts";
import { until } from "../support/database/pipeline.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { withInstallation } from "./installation.ts";
import { untilStatus } from "./order-status.ts";

const rounds = 40;
const warmUps = 3;
const pauseMs = 250;
const firstToken = 60_000n;

/**
 * Listings created at OpenSea's stand-in: the time until `GET /v1/listings/{askId}` shows one, received over the
 * stream; and the time from just before the block that sells it is mined until it is shown as filled.
 */
export function run(): Promise<Figure[]> {
  return withInstallation(async ({ ethereum, apechain, whileServing }) => {
    const { client, anvil } = ethereum;
    const chains = [anvil, apechain.anvil].map(({ chainId, rpcUrl, wsUrl }) => ({
      ...{ chainId, rpcUrl, wsUrl },
    }));
    const partner = await openPartnerA({ chains: [{ chainId: 1, rpcUrl: anvil.rpcUrl }] });
    const settings = {
      PARTNER_A_URL: partner.url,
      PARTNER_A_STREAM_URL: partner.streamUrl,
      PARTNER_A_RATE_LIMIT: "6000",
    };
    for (const market of [ethereum, apechain])
      await market.client.setIntervalMining({ interval: 1 });
    const timed = await whileServing(
      chains,
      async (baseUrl) => {
        await client.setIntervalMining({ interval: 0 });
        await client.setAutomine(true);
        return timeListings(ethereum, partner, baseUrl);
      },
      settings,
    ).finally(() => partner.close());
    const size = `${timed.soldMs.length} listings on chain 1; chain 33139 mines every second`;
    const percentiles = (goalMs: number | null) => [
      { percent: 50, goalMs: null },
      { percent: 99, goalMs },
    ];
    return [
      ...percentileFigures("partner-sold, sold,", timed.soldMs, percentiles(500), size),
      ...percentileFigures("partner-sold, listed,", timed.listedMs, percentiles(null), size),
    ];
  });
}

async function timeListings({ client, actors }: Market, partner: StandIn, baseUrl: string) {
  const agent = new Agent({ keepAlive: true });
  const bob = openTrader({ baseUrl, chainId: 1, client, account: accounts.bob });
  const [listedMs, soldMs]: [number[], number[]] = [[], []];
  const first = { standard: "erc721", contract: contracts.punks } as const;
  const isSubscribed = async () => partner.topics().includes("collection:punks");
  await until("the collection's topic", isSubscribed, 120_000);
  for (let round = 0n; round < rounds + warmUps; round += 1n) {
    const nft = { ...first, tokenId: firstToken + round };
    await actors.alice.mintsRange(contracts.punks, nft.tokenId, 1n);
    const sale = { chainId: 1, maker: accounts.alice, nft, priceWei: parseEther("1") } as const;
    const { orderHash } = await partner.sell(sale);
    const shownAt = performance.now();
    const url = `${baseUrl}/v1/listings/${orderHash}?chainId=1`;
    await untilStatus(agent, url, "active");
    listedMs.push(performance.now() - shownAt);
    const call = await bob.buyCall(orderHash, { buyer: bob.maker });
    await client.setAutomine(false);
    await client.sendTransaction({ account: bob.maker, chain: null, gas: 500_000n, ...call });
    const minedAt = performance.now();
    await client.mine({ blocks: 1 });
    await untilStatus(agent, url, "filled");
    soldMs.push(performance.now() - minedAt);
    await client.setAutomine(true);
    await delay(pauseMs);
  }
  agent.destroy();
  return { listedMs: listedMs.slice(warmUps), soldMs: soldMs.slice(warmUps) };
}
