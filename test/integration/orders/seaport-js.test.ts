import { Seaport } from "@opensea/seaport-js";
import { ItemType } from "@opensea/seaport-js/lib/constants";
import type { OrderComponents as WireComponents } from "@opensea/seaport-js/lib/types";
import { HDNodeWallet, JsonRpcProvider, NonceManager } from "ethers";
import {
  compactSignatureToSignature,
  type Hex,
  parseCompactSignature,
  parseEther,
  recoverAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { erc721Abi } from "#abis/tokens.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";

/** OpenSea's client creates, signs and fills orders independently of our code. */
describe("OpenSea's client and ours", () => {
  let market: Market;
  let provider: JsonRpcProvider;

  beforeAll(async () => {
    market = await openMarket({ chainId: 33139 });
    provider = new JsonRpcProvider(market.anvil.rpcUrl, undefined, { cacheTimeout: -1 });
  });

  afterAll(async () => {
    provider?.destroy();
    await market?.stop();
  });

  it("agree on hash and signer of an order, and ours fills its orders", async () => {
    const { alice, bob } = market.actors;
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 501n } as const;
    await alice.mints(nft);
    await alice.approves(nft.contract);
    const client = clientOf(1);
    const { executeAllActions } = await client.createOrder({
      conduitKey: commonConduit.key,
      offer: [{ itemType: ItemType.ERC721, token: nft.contract, identifier: "501" }],
      consideration: [
        { amount: parseEther("1").toString(), recipient: alice.address },
        { amount: parseEther("0.05").toString(), recipient: accounts.royaltyRecipient },
      ],
    });
    const { parameters, signature } = await executeAllActions();
    const components = fromWire(parameters);

    expect(orderHash(components)).toBe(client.getOrderHash(parameters));
    const digest = signingDigest(orderHash(components), exchangeDomain(33139));
    // The library signs in the compact form of EIP-2098.
    const compact = parseCompactSignature(signature as Hex);
    const signer = compactSignatureToSignature(compact);
    expect(await recoverAddress({ hash: digest, signature: signer })).toBe(alice.address);

    await bob.buys({ components, signature: signature as Hex });
    expect(await ownerOf(501n)).toBe(bob.address);
  });

  it("fills our orders", async () => {
    const { alice, carol } = market.actors;
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 502n } as const;
    await alice.mints(nft);
    await alice.approves(nft.contract);
    const { components, signature } = await alice.lists(nft, { priceWei: parseEther("2") });

    const client = clientOf(3);
    const { executeAllActions } = await client.fulfillOrder({
      order: { parameters: toWire(components), signature },
      accountAddress: carol.address,
    });
    await executeAllActions();
    expect(await ownerOf(502n)).toBe(carol.address);
  });

  function clientOf(addressIndex: number): Seaport {
    const phrase = "test test test test test test test test test test test junk";
    const wallet = HDNodeWallet.fromPhrase(phrase, undefined, `m/44'/60'/0'/0/${addressIndex}`);
    return new Seaport(new NonceManager(wallet.connect(provider)) as never);
  }

  function ownerOf(tokenId: bigint): Promise<string> {
    return market.client.readContract({
      address: contracts.punks,
      abi: erc721Abi,
      functionName: "ownerOf",
      args: [tokenId],
    });
  }
});

type WireItem = WireComponents["offer"][number];

/** The library's decimal strings as our integers. */
function fromWire(order: WireComponents): OrderComponents {
  const item = ({ itemType, token, identifierOrCriteria, startAmount, endAmount }: WireItem) => ({
    itemType,
    token: token as Hex,
    identifierOrCriteria: BigInt(identifierOrCriteria),
    startAmount: BigInt(startAmount),
    endAmount: BigInt(endAmount),
  });
  return {
    offerer: order.offerer as Hex,
    zone: order.zone as Hex,
    offer: order.offer.map(item),
    consideration: order.consideration.map((leg) => ({
      ...item(leg),
      recipient: leg.recipient as Hex,
    })),
    orderType: order.orderType,
    startTime: BigInt(order.startTime),
    endTime: BigInt(order.endTime),
    zoneHash: order.zoneHash as Hex,
    salt: BigInt(order.salt),
    conduitKey: order.conduitKey as Hex,
    counter: BigInt(order.counter),
  };
}

function toWire(components: OrderComponents): WireComponents {
  const text = JSON.stringify(components, (_, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  return {
    ...JSON.parse(text),
    totalOriginalConsiderationItems: components.consideration.length,
  };
}
