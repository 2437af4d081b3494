import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { fetchTransactionProof } from "#jobs/chain/fetch-receipt.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let market: Market;
let proxy: RpcProxy;
let chain: ChainClient;
let alice: Address;

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  chain = openChainClient({ chainId: 1, rpcUrls: [proxy.url] });
  alice = market.actors.alice.address.toLowerCase() as Address;
});
afterAll(async () => {
  await proxy.close();
  await market.stop();
});
afterEach(() => {
  proxy.override = () => undefined;
});

const punk = { standard: "erc721", contract: contracts.punks, tokenId: 1n } as const;
const edition = { standard: "erc1155", contract: contracts.editions, tokenId: 1n } as const;
const hashOf = (order: SignedOrder) => orderHash(order.components);

describe("fetchProof", () => {
  it("tells the orders a transaction cancelled, at its block", async () => {
    const orders = [
      await market.actors.alice.lists(punk, { priceWei: 1_000n }),
      await market.actors.alice.lists(punk, { priceWei: 2_000n }),
    ];
    const receipt = await market.actors.alice.cancels(...orders);
    const block = await market.client.getBlock({ blockHash: receipt.blockHash });
    await market.client.mine({ blocks: 1 });

    expect(await fetchTransactionProof(chain, receipt.transactionHash)).toEqual({
      basis: {
        number: block.number,
        hash: block.hash,
        timestamp: new Date(Number(block.timestamp) * 1000),
      },
      events: orders.map((order, logIndex) => ({
        kind: "order_cancelled",
        orderHash: hashOf(order),
        offerer: alice,
        logIndex,
      })),
    });
  });

  it("tells the counter of a maker who incremented it, and the fill of an order", async () => {
    const order = await market.actors.alice.lists(edition, { priceWei: 1_000n, quantity: 4n });
    const bought = await market.actors.bob.buys(order, { units: 1n });
    const incremented = await market.actors.alice.incrementsCounter();
    const { counter } = (await market.actors.alice.lists(punk, { priceWei: 1_000n })).components;

    expect(await fetchTransactionProof(chain, bought.transactionHash)).toMatchObject({
      events: [{ kind: "order_fulfilled", orderHash: hashOf(order), offerer: alice }],
    });
    expect(await fetchTransactionProof(chain, incremented.transactionHash)).toMatchObject({
      events: [{ kind: "counter_incremented", newCounter: counter, offerer: alice }],
    });
  });

  it("proves nothing by a transaction that nobody knows", async () => {
    expect(await fetchTransactionProof(chain, keccak256(stringToHex("nothing")))).toEqual({
      proves: "nothing",
      reason: "unknown",
    });
  });

  it("proves nothing by a transaction that failed", async () => {
    const order = await market.actors.alice.lists(punk, { priceWei: 1_000n });
    const failure = await market.actors.bob.cancels(order).catch((error: Error) => error.message);
    const [hash] = /0x[0-9a-f]{64}/.exec(String(failure)) ?? [];

    expect(await fetchTransactionProof(chain, hash as Hex)).toEqual({
      proves: "nothing",
      reason: "failed",
    });
  });

  it("proves nothing by another contract's logs, though they be of the same shape", async () => {
    const order = await market.actors.alice.lists(punk, { priceWei: 1_000n });
    const { transactionHash } = await market.actors.alice.cancels(order);
    const impostor: Address = "0x00000000000000000000000000000000000fa15e";
    const bytecode = (await market.client.getCode({ address: seaportAddresses["1.6"] })) ?? "0x";
    await market.client.setCode({ address: impostor, bytecode });
    const { input } = await market.client.getTransaction({ hash: transactionHash });
    const forged = await market.client.sendTransactionSync({
      account: accounts.alice,
      chain: market.client.chain,
      to: impostor,
      data: input,
    });

    expect(forged.logs).toHaveLength(1);
    expect(await fetchTransactionProof(chain, forged.transactionHash)).toEqual({
      proves: "nothing",
      reason: "no_events",
    });
  });

  it("proves nothing by a receipt of a block that the chain no longer has", async () => {
    const receipt = await market.actors.alice.incrementsCounter();
    await market.client.mine({ blocks: 1 });
    const kept = await market.client.request({
      method: "eth_getTransactionReceipt",
      params: [receipt.transactionHash],
    });
    await market.client.request({ method: "anvil_reorg", params: [2, []] } as never);
    proxy.override = ({ method }) =>
      method === "eth_getTransactionReceipt" ? { result: kept } : undefined;

    expect(await fetchTransactionProof(chain, receipt.transactionHash)).toEqual({
      proves: "nothing",
      reason: "not_canonical",
    });
  });

  it("throws RpcFailure for a node that refuses, or answers with another receipt", async () => {
    const one = await market.actors.alice.incrementsCounter();
    const other = await market.actors.bob.incrementsCounter();
    const kept = await market.client.request({
      method: "eth_getTransactionReceipt",
      params: [other.transactionHash],
    });
    for (const told of [{ result: kept }, { error: { code: -32000, message: "not today" } }]) {
      proxy.override = ({ method }) => (method === "eth_getTransactionReceipt" ? told : undefined);
      await expect(fetchTransactionProof(chain, one.transactionHash)).rejects.toThrow(RpcFailure);
    }
  });
});
