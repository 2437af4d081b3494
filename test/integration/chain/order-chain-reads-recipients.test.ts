import { type Address, type Hex, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let market: Market;
let node: RpcProxy;
let chain: ChainClient;

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  node = await startRpcProxy(market.anvil.rpcUrl);
  chain = openChainClient({ chainId: 1, rpcUrls: [node.url] });
});
afterAll(async () => {
  await node?.close();
  await market?.stop();
});
afterEach(async () => {
  node.override = () => undefined;
  await setCode("0x");
});

const fee = accounts.feeRecipient.toLowerCase() as Address;
const setCode = (bytecode: Hex, address: Address = fee) =>
  market.client.setCode({ address, bytecode });

let tokenId = 9_000n;
async function someListing(): Promise<SignedOrder> {
  const { alice } = market.actors;
  tokenId += 1n;
  const nft = { standard: "erc721", contract: contracts.punks, tokenId } as const;
  await alice.mints(nft);
  return await alice.lists(nft, { priceWei: parseEther("0.5") });
}

async function read(order: SignedOrder) {
  const hash = orderHash(order.components);
  const question = { kind: "recipients_read", orderHash: hash, order } as const;
  return (await queryChain(chain, [question])).find(question);
}

const revert = "60006000fd";
/** Code of whoever gets the fee, 0.005 ether, and whether it takes it. */
const codes: [string, Hex, boolean][] = [
  ["no code", "0x", true],
  ["code that takes all", "0x00", true],
  ["code that reverts", `0x${revert}`, false],
  ["code that uses up its gas", "0xfe", false],
  [
    "code that takes it of the exchange alone",
    `0x3373${seaportAddresses["1.6"].slice(2)}14601f57${revert}5b00`,
    true,
  ],
  ["code that takes no less than an ether", `0x34670de0b6b3a764000010601357${revert}5b00`, false],
];

describe("recipients_read of a listing", () => {
  it.each(codes)("tells with %s what a purchase does", async (_, code, takes) => {
    const order = await someListing();
    await setCode(code);

    expect(await read(order)).toEqual({
      kind: "recipients_read",
      orderHash: orderHash(order.components),
      recipients: code === "0x" ? [] : [fee],
      refusing: takes ? null : fee,
    });
    const isBought = market.actors.bob.buys(order).then(
      () => true,
      () => false,
    );
    expect(await isBought).toBe(takes);
  });

  it("is unknown where the node does not know the code, or cannot give the exchange its ether", async () => {
    const order = await someListing();
    await setCode("0x00");
    // As nodes say it that do not know of the third parameter; the second one as if the contract had reverted.
    for (const message of ["insufficient funds for gas * price + value", "VM execution error."])
      for (const method of ["eth_getCode", "eth_call"]) {
        const error = { code: -32_000, message };
        node.override = (call) => (call.method === method ? { error } : undefined);
        expect(await read(order)).toBeUndefined();
      }
  });
});

describe("recipients_read of a bid", () => {
  const edition = { standard: "erc1155", contract: contracts.editions, tokenId: 1n } as const;
  const price = { priceWei: 1_000n };

  it("tells whether a contract takes the units that it bids for", async () => {
    const { wallet } = market.actors;
    const bidder = wallet.address.toLowerCase() as Address;
    const bid = await wallet.offers(edition, price);
    expect(await read(bid)).toMatchObject({ recipients: [bidder], refusing: null });
    const code = await market.client.getCode({ address: bidder });
    // Confirms every signature (ERC-1271) and answers nothing else.
    await setCode("0x631626ba7e60e01b60005260206000f3", bidder);
    expect(await read(bid)).toMatchObject({ recipients: [bidder], refusing: bidder });
    await setCode(code ?? "0x", bidder);
  });

  it("asks nobody where no code is called: for ERC-721 tokens, and of people", async () => {
    const { alice, wallet } = market.actors;
    const punk = { standard: "erc721", contract: contracts.punks, tokenId: 1n } as const;
    for (const bid of [await wallet.offers(punk, price), await alice.offers(edition, price)])
      expect(await read(bid)).toMatchObject({ recipients: [], refusing: null });
  });
});
