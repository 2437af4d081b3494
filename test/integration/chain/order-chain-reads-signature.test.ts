import { type Address, concatHex, type Hex, numberToHex, size, toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

let market: Market;
let chain: ChainClient;

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  chain = openChainClient({ chainId: 1, rpcUrls: [market.anvil.rpcUrl] });
});
afterAll(() => market.stop());

const lower = (address: Address) => address.toLowerCase() as Address;

async function isTaken(question: ReturnType<typeof signatureOf>) {
  return (await queryChain(chain, [question])).find(question)?.valid;
}

const signatureOf = (order: SignedOrder, signature = order.signature) =>
  ({
    kind: "signature_read",
    orderHash: orderHash(order.components),
    maker: lower(order.components.offerer),
    order: { ...order, signature },
  }) as const;

describe("signature_read", () => {
  it("takes signatures of people and of contract wallets, single and bulk", async () => {
    const { alice: seller, wallet } = market.actors;
    await wallet.mints(punk(8_001n));
    const orders = [
      await seller.lists(punk(1n), { priceWei: 5_000n }),
      await wallet.lists(punk(8_001n), { priceWei: 5_000n }),
      ...(await seller.listsInBulk([
        { nft: punk(1n), priceWei: 6_000n },
        { nft: punk(2n), priceWei: 6_000n },
      ])),
    ];

    const { readings } = await queryChain(
      chain,
      orders.map((order) => signatureOf(order)),
    );

    expect(readings.map((reading) => "valid" in reading && reading.valid)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(readings[1]).toMatchObject({ kind: "signature_read", maker: contracts.smartWallet });
  });

  it("refuses others' signatures, empty ones and nonsense, for people and wallets alike", async () => {
    const { alice: seller, bob: other, wallet } = market.actors;
    const ofPerson = await seller.lists(punk(1n), { priceWei: 7_000n });
    const ofWallet = await wallet.lists(punk(8_001n), { priceWei: 7_000n });
    const foreign = (await other.lists(punk(1n), { priceWei: 7_000n })).signature;
    const questions = [ofPerson, ofWallet].flatMap((order) => [
      signatureOf(order, foreign),
      signatureOf(order, "0x"),
      signatureOf(order, `0x${"07".repeat(70)}`),
      signatureOf(order),
    ]);

    const answers = await queryChain(chain, questions);

    const valid = questions.map((question) => answers.find(question)?.valid);
    expect(valid).toEqual([false, false, false, true, false, false, false, true]);
  });

  it("decides nothing about an order that the exchange refuses for another reason", async () => {
    const { dave } = market.actors;
    const cancelled = await dave.lists(punk(20n), { priceWei: 1_000n });
    await dave.cancels(cancelled);
    expect(await isTaken(signatureOf(cancelled))).toBeUndefined();
    const outdated = await dave.lists(punk(20n), { priceWei: 2_000n });
    await dave.incrementsCounter();
    expect(await isTaken(signatureOf(outdated))).toBeUndefined();
  });

  it("takes whatever a wallet reverts with for a refusal, also the exchange's own errors", async () => {
    const wallet: Address = "0x00000000000000000000000000000000000a11e7";
    const order = await market.actors.alice.lists(punk(1n), { priceWei: 9_000n });
    const components = { ...order.components, offerer: wallet, counter: 0n };
    const question = signatureOf({ ...order, components });
    const words = exchangeErrors.map((data) => concatHex([data, question.orderHash]));

    for (const data of ["0xdeadbeef", "0x01", "0x", ...exchangeErrors, ...words] as const) {
      await market.client.setCode({ address: wallet, bytecode: revertingWith(data) });
      expect(await isTaken(question), data).toBe(false);
    }
  });

  it("takes a wallet that reverts with more than is read for one that refuses", async () => {
    const wallet: Address = "0x00000000000000000000000000000000000a11e8";
    const order = await market.actors.alice.lists(punk(1n), { priceWei: 9_000n });
    const components = { ...order.components, offerer: wallet, counter: 0n };
    await market.client.setCode({ address: wallet, bytecode: "0x620800006000fd" });

    expect(await isTaken(signatureOf({ ...order, components }))).toBe(false);
  });
});

/** Those by which `validate` refuses an order before it verifies the signature. */
const exchangeErrors = [
  "OrderIsCancelled(bytes32)",
  "OrderAlreadyFilled(bytes32)",
  "OrderPartiallyFilled(bytes32)",
  "ConsiderationLengthNotEqualToTotalOriginal()",
  "MissingOriginalConsiderationItems()",
].map(toFunctionSelector);

/** Code that copies data from its own end and reverts with it. */
function revertingWith(data: Hex): Hex {
  const length = numberToHex(size(data), { size: 1 });
  // PUSH1 length, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 length, PUSH1 0, REVERT
  return concatHex(["0x60", length, "0x600c600039", "0x60", length, "0x6000fd", data]);
}
