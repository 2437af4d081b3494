import type { Address, PrivateKeyAccount } from "viem";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import type { Random } from "#devnet/market/random.ts";
import { draftListingComponents, priceLegs } from "#projections/domain/seaport/draft-components.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import type { Observation } from "#projections/log/append.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";

type Token = { contract: Address; tokenId: bigint; owner: PrivateKeyAccount };

type Terms = { chainId: ChainId; timestamp: number; random: Random };

const lifetimeSeconds = 10n ** 8n;

/** Signs listings and collects their facts. */
export function openSignedOrders({ chainId, timestamp, random }: Terms) {
  const orders: Observation[] = [];
  const startTime = BigInt(timestamp);
  const sign = async ({ contract, tokenId, owner: maker }: Token) => {
    const unitPriceWei = random.between(100n, 900n) * 10n ** 13n;
    const price = {
      unitPriceWei,
      fee: { recipient: accounts.feeRecipient, bps: 100 },
      royalty: { recipient: accounts.royaltyRecipient, royaltyWei: unitPriceWei / 20n },
    };
    const components = draftListingComponents({
      ...{ maker: maker.address, counter: 0n, salt: BigInt(orders.length), price },
      ...{ startTime, endTime: startTime + lifetimeSeconds },
      nft: { standard: "erc721", contract, tokenId },
      quantity: 1n,
    });
    const hash = orderHash(components);
    const signature = await maker.sign({
      hash: signingDigest(hash, exchangeDomain(chainId)),
    });
    const order: SignedOrder = { components, signature };
    const { sellerNetWei, feeLegs } = priceLegs(price);
    const terms = {
      ...({ side: "ask", standard: "erc721", quantity: 1n } as const),
      ...{ contract, tokenId, unitPriceWei, sellerNetWei },
      fees: feeLegs.map((leg) => ({
        ...leg,
        kind: leg.recipient === price.fee.recipient ? ("service" as const) : ("royalty" as const),
      })),
    };
    const receivedAt = new Date(timestamp * 1_000);
    orders.push(
      orderSubmitted({ chainId, orderHash: hash, components, signature, terms, receivedAt }),
    );
    return { order, priceWei: unitPriceWei };
  };
  return { sign, orders: () => orders };
}
