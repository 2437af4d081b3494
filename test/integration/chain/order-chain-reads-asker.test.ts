import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createQueryBatcher, type QueryChain } from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let market: Market;
let proxy: RpcProxy;
let ask: QueryChain;
let alice: Address;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  ask = createQueryBatcher(openChainClient({ chainId: 33139, rpcUrls: [proxy.url] }));
  alice = market.actors.alice.address.toLowerCase() as Address;
});
afterAll(async () => {
  await proxy.close();
  await market.stop();
});
afterEach(() => {
  proxy.before = async () => {};
  proxy.override = () => undefined;
});

const ownerOf = (tokenId: bigint) =>
  ({ kind: "owner_read", contract: contracts.punks, tokenId }) as const;
const counter = () => ({ kind: "counter_read", maker: alice }) as const;

describe("openChainAsker", () => {
  it("answers sixteen callers with the requests of one, each with its own readings", async () => {
    const before = proxy.requests;
    await ask([ownerOf(1n), counter()]);
    const ofOne = proxy.requests - before;

    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => ask([ownerOf(BigInt(index + 1)), counter()])),
    );

    expect(proxy.requests - before - ofOne).toBe(ofOne);
    // The block, the exchange, and the collection.
    expect(ofOne).toBe(3);
    answers.forEach(({ readings }, index) => {
      expect(readings.map(({ kind }) => kind)).toEqual(["owner_read", "counter_read"]);
      expect(readings[0]).toMatchObject({ tokenId: BigInt(index + 1) });
    });
    expect(new Set(answers.map(({ basis }) => basis.hash)).size).toBe(1);
  });

  it("answers those who come during a round with the next one, which sees what was mined before they came", async () => {
    const late: ReturnType<QueryChain>[] = [];
    proxy.before = async (calls) => {
      if (late.length > 0 || !calls.some(({ method }) => method === "eth_call")) return;
      await market.actors.alice.incrementsCounter();
      late.push(ask([counter()]), ask([counter(), ownerOf(1n)]));
    };

    const early = await ask([counter()]);
    const later = await Promise.all(late);

    const [first, second] = later.map((answers) => answers.find(counter())?.counter);
    expect(early.find(counter())?.counter).toBe(0n);
    expect(first).toBeGreaterThan(0n);
    expect(second).toBe(first);
    expect(later[0]?.basis).toEqual(later[1]?.basis);
  });

  it("fails all callers of a round with the same fault, and the next round goes on", async () => {
    proxy.override = ({ method }) => (method === "eth_chainId" ? { result: "0x1" } : undefined);

    const failed = await Promise.allSettled([ask([counter()]), ask([ownerOf(1n)])]);
    proxy.override = () => undefined;
    const next = await ask([ownerOf(1n)]);

    const reasons = failed.map((one) => (one.status === "rejected" ? one.reason : undefined));
    expect(reasons[0]).toBeInstanceOf(RpcFailure);
    expect(reasons[1]).toBe(reasons[0]);
    expect(next.find(ownerOf(1n))?.owner).toBe(alice);
  });
});
