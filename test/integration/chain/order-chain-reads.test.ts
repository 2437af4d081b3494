import { type Address, keccak256, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { multicall3 } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

let market: Market;
let proxy: RpcProxy;
let chain: ChainClient;
let alice: Address;
let bob: Address;

const currency = wrappedNative[1];
const nobody: Address = "0x00000000000000000000000000000000000000aa";
const lower = (address: Address) => address.toLowerCase() as Address;
const edition = { standard: "erc1155", contract: contracts.editions, tokenId: 1n } as const;

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  chain = openChainClient({ chainId: 1, rpcUrls: [proxy.url] });
  alice = lower(market.actors.alice.address);
  bob = lower(market.actors.bob.address);
});
afterAll(async () => {
  await proxy.close();
  await market.stop();
});
beforeEach(() => {
  proxy.override = () => undefined;
  proxy.before = async () => {};
});

async function ask<const Query extends ChainQuery>(question: Query) {
  return (await queryChain(chain, [question])).find(question);
}

describe("askChain", () => {
  it("tells owners, units and approvals of tokens", async () => {
    const questions = [
      { kind: "owner_read", contract: contracts.punks, tokenId: 1n },
      { kind: "owner_read", contract: contracts.punks, tokenId: 999_999n },
      { kind: "units_read", contract: contracts.editions, tokenId: 1n, owner: bob },
      { kind: "approval_read", contract: contracts.punks, owner: alice },
      { kind: "approval_read", contract: contracts.burnable, owner: alice },
    ] as const;

    const { readings } = await queryChain(chain, questions);

    expect(readings).toEqual([
      { ...questions[0], owner: alice },
      { ...questions[1], owner: null },
      { ...questions[2], units: 60n },
      { ...questions[3], approved: true },
      { ...questions[4], approved: false },
    ]);
  });

  it("tells balances and what the exchange may spend of them", async () => {
    await market.actors.bob.wraps(700n);
    await market.actors.bob.allows(300n);
    const balance = { kind: "balance_read", currency, owner: bob } as const;
    const allowance = { kind: "allowance_read", currency, owner: bob } as const;

    const answers = await queryChain(chain, [balance, allowance]);

    expect(answers.find(balance)?.wei).toBe(700n);
    expect(answers.find(allowance)?.wei).toBe(300n);
  });

  it("tells what became of orders, the makers' counters and the conduit's channel", async () => {
    const { alice: seller, bob: buyer, carol } = market.actors;
    const partly = await seller.lists(edition, { priceWei: 1_000n, quantity: 20n });
    await buyer.buys(partly, { units: 3n });
    const cancelled = await seller.lists(punk(1n), { priceWei: 1_000n });
    await seller.cancels(cancelled);
    await carol.incrementsCounter();
    const statusOf = (order: SignedOrder) =>
      ({ kind: "order_status_read", orderHash: orderHash(order.components) }) as const;
    const counter = { kind: "counter_read", maker: lower(carol.address) } as const;

    const answers = await queryChain(chain, [
      statusOf(partly),
      statusOf(cancelled),
      counter,
      { kind: "channel_read" },
    ]);

    expect(answers.find(statusOf(partly))).toMatchObject({
      cancelled: false,
      filled: 3n,
      size: 20n,
    });
    expect(answers.find(statusOf(cancelled))).toMatchObject({ cancelled: true, filled: 0n });
    expect(answers.find(counter)?.counter).toBeGreaterThan(1n << 64n);
    expect(answers.find({ kind: "channel_read" })).toEqual({ kind: "channel_read", open: true });
  });

  it("tells whether code stands at an address, and the standard that a contract declares", async () => {
    expect(await ask({ kind: "code", address: alice })).toMatchObject({ hasCode: false });
    expect(await ask({ kind: "code", address: contracts.smartWallet })).toMatchObject({
      hasCode: true,
    });
    const standardOf = async (contract: Address) => ask({ kind: "standard", contract });
    expect(await standardOf(contracts.punks)).toMatchObject({ standard: "erc721" });
    expect(await standardOf(contracts.editions)).toMatchObject({ standard: "erc1155" });
    for (const contract of [currency, nobody]) {
      expect(await standardOf(contract)).toMatchObject({ standard: null, reason: "no_erc165" });
    }
  });

  it("tells the royalty of a contract that names one, and none of one that does not", async () => {
    const salePriceWei = 1_000n;
    const royaltyOf = (contract: Address) =>
      ask({ kind: "royalty", contract, tokenId: 1n, salePriceWei });

    expect((await royaltyOf(contracts.punks))?.royalty).toEqual({
      recipient: "0x0000000000000000000000000000000000c4ea70",
      royaltyWei: 50n,
    });
    expect((await royaltyOf(contracts.validator))?.royalty).toBeNull();
    expect((await royaltyOf(nobody))?.royalty).toBeNull();
  });

  it("asks equal questions once, and records no answer twice", async () => {
    const question = { kind: "owner_read", contract: contracts.punks, tokenId: 2n } as const;

    const reordered = { tokenId: 2n, contract: contracts.punks, kind: "owner_read" } as const;
    const answers = await queryChain(chain, [question, { ...question }, reordered]);

    expect(answers.find(reordered)).toEqual({ ...question, owner: alice });
    expect(answers.readings).toEqual([{ ...question, owner: alice }]);
  });

  it("reads all at the end of one block, whatever is mined meanwhile", async () => {
    const question = { kind: "owner_read", contract: contracts.punks, tokenId: 3n } as const;
    const head = await market.client.getBlock();
    let isMoved = false;
    proxy.before = async (calls) => {
      if (isMoved || !calls.some(({ method }) => method === "eth_call")) return;
      isMoved = true;
      await market.actors.alice.transfers(punk(3n), { address: bob });
    };

    const answers = await queryChain(chain, [question]);

    expect(isMoved).toBe(true);
    expect(answers.find(question)?.owner).toBe(alice);
    expect(answers.basis).toEqual({
      number: head.number,
      hash: head.hash,
      timestamp: new Date(Number(head.timestamp) * 1000),
    });
    expect(await ask(question)).toMatchObject({ owner: bob });
  });

  it("asks again at the new head when the block it read at is dropped", async () => {
    await market.client.mine({ blocks: 2 });
    let reorgs = 0;
    proxy.before = async (calls) => {
      if (reorgs > 0 || !calls.some(({ method }) => method === "eth_call")) return;
      reorgs += 1;
      await market.client.request({ method: "anvil_reorg", params: [1, []] } as never);
    };

    const { basis } = await queryChain(chain, [{ kind: "channel_read" }]);

    expect(reorgs).toBe(1);
    expect(basis.hash).toBe((await market.client.getBlock()).hash);
  });

  it("throws RpcFailure where the chain cannot be asked", async () => {
    const deaf = openChainClient({ chainId: 33139, rpcUrls: [proxy.url] });
    await expect(queryChain(deaf, [{ kind: "channel_read" }])).rejects.toThrow(RpcFailure);
  });

  it("leaves unknown what the node does not say, and answers the rest", async () => {
    const code = { kind: "code", address: contracts.punks } as const;
    const owner = { kind: "owner_read", contract: contracts.punks, tokenId: 1n } as const;
    proxy.override = ({ method }) =>
      method === "eth_call" ? { error: { code: -32005, message: "rate limited" } } : undefined;

    const answers = await queryChain(chain, [owner, code]);

    expect(answers.find(owner)).toBeUndefined();
    expect(answers.find(code)?.hasCode).toBe(true);
    expect(answers.readings).toEqual([]);
  });

  it("asks all about a hundred listings of a maker in at most four requests with calls", async () => {
    for (const firstId of [5_000n, 5_025n, 5_050n, 5_075n]) {
      await market.actors.alice.mintsRange(contracts.punks, firstId, 25n);
    }
    const questions = Array.from({ length: 100 }, (_, index) =>
      aboutListing(5_000n + BigInt(index)),
    ).flat();
    let requests = 0;
    proxy.before = async (calls) => {
      if (calls.some(({ method }) => method === "eth_call")) requests += 1;
    };
    const fewest = async (): Promise<number> => {
      const client = openChainClient({ chainId: 1, rpcUrls: [proxy.url] });
      // Now the contract is known to be cheap.
      await queryChain(client, aboutListing(1n));
      requests = 0;
      await queryChain(client, questions);
      return requests;
    };

    // On a busy machine a contract may look slow, whose calls are then made in smaller requests.
    await expect.poll(fewest, { timeout: 60_000 }).toBeLessThanOrEqual(4);
    const answers = await queryChain(chain, questions);
    expect(questions.map((question) => answers.find(question)).includes(undefined)).toBe(false);
    const transfers = answers.readings.filter(({ kind }) => kind === "transfer_read");
    expect(transfers).toHaveLength(100);
    expect(transfers.every((reading) => "allowed" in reading && reading.allowed)).toBe(true);
  });

  it("answers the same without Multicall3", async () => {
    const questions = [...aboutListing(1n), ...aboutListing(2n)];
    const together = await queryChain(chain, questions);
    const bytecode = (await market.client.getCode({ address: multicall3 })) ?? "0x";
    await market.client.setCode({ address: multicall3, bytecode: "0x" });
    try {
      expect((await queryChain(chain, questions)).readings).toEqual(together.readings);
    } finally {
      await market.client.setCode({ address: multicall3, bytecode });
    }
  });
});

function aboutListing(tokenId: bigint): ChainQuery[] {
  const contract = contracts.punks;
  return [
    { kind: "counter_read", maker: alice },
    { kind: "approval_read", contract, owner: alice },
    { kind: "owner_read", contract, tokenId },
    { kind: "order_status_read", orderHash: keccak256(numberToHex(tokenId)) },
    { kind: "transfer_read", contract, tokenId, owner: alice, standard: "erc721" },
    { kind: "royalty", contract, tokenId, salePriceWei: 1_000_000n },
  ];
}
