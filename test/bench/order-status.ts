import { Agent, get } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { encodeFunctionData, type Hex, parseEther } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { erc721Abi } from "#abis/tokens.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Market } from "../support/chain/market.ts";
import { openTrader, type Trader } from "../support/chain/trader.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { withInstallation } from "./installation.ts";

const rounds = 25;
const warmUps = 2;
const pollEveryMs = 2;
const pauseMs = 250;
const giveUpMs = 30_000;
const firstToken = 50_000n;

type Call = { from: Trader; to: Hex; data: Hex; value?: bigint };

/**
 * From just before a block of chain 1 is mined until `GET /v1/listings/{askId}` shows the listing's new status: after a
 * transfer of its token, a revoked and a restored approval, a cancellation and a purchase.
 */
export function run(): Promise<Figure[]> {
  return withInstallation(async ({ ethereum, apechain, whileServing }) => {
    const chains = [ethereum.anvil, apechain.anvil].map(({ chainId, rpcUrl, wsUrl }) => ({
      chainId,
      rpcUrl,
      wsUrl,
    }));
    // A websocket announces new blocks only, so the heads would not be reached without mining.
    await ethereum.client.setIntervalMining({ interval: 1 });
    await apechain.client.setIntervalMining({ interval: 1 });
    return whileServing(chains, async (baseUrl) => {
      await ethereum.client.setIntervalMining({ interval: 0 });
      await ethereum.client.setAutomine(true);
      const durationsMs = await timeChanges(ethereum, baseUrl);
      const size = `${durationsMs.length} changes of listings on chain 1; chain 33139 mines every second`;
      const percentiles = [
        { percent: 50, goalMs: 100 },
        { percent: 95, goalMs: null },
        { percent: 99, goalMs: 500 },
      ];
      return percentileFigures("order-status,", durationsMs, percentiles, size);
    });
  });
}

async function timeChanges({ client, actors }: Market, baseUrl: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const trader = (account: typeof accounts.alice) =>
    openTrader({ baseUrl, chainId: 1, client, account });
  const [alice, bob] = [trader(accounts.alice), trader(accounts.bob)];
  const durationsMs: number[] = [];
  const change = async (askId: string, status: string, { from, ...call }: Call) => {
    await client.setAutomine(false);
    await client.sendTransaction({ account: from.maker, chain: null, gas: 500_000n, ...call });
    const minedAt = performance.now();
    await client.mine({ blocks: 1 });
    await untilStatus(agent, `${baseUrl}/v1/listings/${askId}?chainId=1`, status);
    durationsMs.push(performance.now() - minedAt);
    await client.setAutomine(true);
    await delay(pauseMs);
  };
  await actors.alice.approves(contracts.punks);
  for (let round = 0n; round < rounds + warmUps; round += 1n) {
    const [first, second, third] = [0n, 1n, 2n].map((index) => firstToken + round * 3n + index);
    if (first === undefined || second === undefined || third === undefined) break;
    await actors.alice.mintsRange(contracts.punks, first, 3n);
    const list = (tokenId: bigint) =>
      alice.lists({ contract: contracts.punks, tokenId, unitPriceWei: parseEther("1") });
    const [moved, cancelled, bought] = [await list(first), await list(second), await list(third)];
    const onPunks = { from: alice, to: contracts.punks };
    const approve = (approved: boolean) => ({ ...onPunks, data: approval(approved) });
    await change(moved, "inactive", { ...onPunks, data: transfer(alice, bob, first) });
    await change(bought, "inactive", approve(false));
    await change(bought, "active", approve(true));
    await change(cancelled, "cancelled", await cancelCall(alice, cancelled));
    await change(bought, "filled", await buyCall(bob, bought));
  }
  agent.destroy();
  return durationsMs.slice(warmUps * 5);
}

const approval = (approved: boolean) =>
  encodeFunctionData({
    abi: erc721Abi,
    functionName: "setApprovalForAll",
    args: [commonConduit.address, approved],
  });

const transfer = (from: Trader, to: Trader, tokenId: bigint) =>
  encodeFunctionData({
    abi: erc721Abi,
    functionName: "transferFrom",
    args: [from.maker, to.maker, tokenId],
  });

async function cancelCall(from: Trader, askId: string): Promise<Call> {
  return { from, ...(await from.cancelCall("asks", askId)) };
}

async function buyCall(from: Trader, askId: string): Promise<Call> {
  return { from, ...(await from.buyCall(askId)) };
}

/** Polls a listing until it has this status; it may be unknown at first. */
export async function untilStatus(agent: Agent, url: string, status: string): Promise<void> {
  const deadline = performance.now() + giveUpMs;
  for (;;) {
    const { data } = await read(agent, url);
    if (data?.status === status) return;
    if (performance.now() > deadline) throw new Error(`${url} is ${data?.status}, not ${status}`);
    await delay(pollEveryMs);
  }
}

/** On a connection that stays open. */
function read(agent: Agent, url: string): Promise<{ data?: { status: string } }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      json(response).then((body) => resolve(body as { data?: { status: string } }), reject);
    }).on("error", reject);
  });
}
