import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import type { Criteria, TradeTerms } from "#projections/domain/orders/order-terms.ts";
import { criteriaTree } from "#projections/domain/seaport/criteria.ts";
import {
  draftBidComponents,
  draftListingComponents,
  priceLegs,
} from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Observation } from "#projections/log/append.ts";
import { type ChainReading, readingObserved } from "#projections/log/readings.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import { tokenSetSubmitted } from "#projections/orders/token-sets.ts";
import { addressOf, type Block, type ChainEvent, zeroAddress } from "../database/given.ts";

export const feeRecipient = addressOf(0xfee);
const fee = { recipient: feeRecipient, bps: 100 };

/** Default time at which orders are received, unix seconds: that of block 0. */
export const receivedAt = 1_700_000_000n;

type Terms = {
  chainId?: ChainId;
  maker: Address;
  contract: Address;
  standard?: "erc721" | "erc1155";
  quantity?: bigint;
  unitPriceWei?: bigint;
  startTime?: bigint;
  endTime?: bigint;
  counter?: bigint;
  /** Distinguishes equal orders. */
  salt?: bigint;
  /** Per unit; none by default. */
  royaltyWei?: bigint;
  receivedAt?: bigint;
};

/** An order and the fact of its submission. `tokenSet`: that of the tokens of a bid on several, which comes before. */
export type GivenOrder = {
  tokenSet?: Observation;
  chainId: ChainId;
  orderHash: Hex;
  components: OrderComponents;
  quantity: bigint;
  terms: TradeTerms;
  submitted: Observation;
};

export function givenListing(listing: Terms & { tokenId: bigint }): GivenOrder {
  const { standard = "erc721", tokenId, contract } = listing;
  const { order, price, quantity } = commonTerms(listing);
  const components = draftListingComponents({
    ...order,
    nft: { standard, contract, tokenId },
    quantity,
    price,
  });
  return given(listing, "ask", tokenId, components);
}

/** Without tokens: on every token of the contract. */
export function givenBid(
  bid: Terms & { tokenId?: bigint; tokenIds?: readonly bigint[] },
): GivenOrder {
  const { standard = "erc721", tokenId, tokenIds, contract, chainId = 1 } = bid;
  const root = tokenIds && criteriaTree(tokenIds).root;
  const { order, price, quantity } = commonTerms(bid);
  const components = draftBidComponents({
    ...order,
    nft:
      tokenId === undefined
        ? { standard, contract, criteria: BigInt(root ?? 0) }
        : { standard, contract, tokenId },
    quantity,
    price,
    currency: wrappedNative[chainId],
  });
  const criteria = root === undefined ? undefined : { root, traits: null };
  const bidOrder = given(bid, "bid", tokenId ?? null, components, criteria);
  if (root === undefined || tokenIds === undefined) return bidOrder;
  const { recordedAt } = bidOrder.submitted;
  return {
    ...bidOrder,
    tokenSet: tokenSetSubmitted(chainId, { contract, root, tokenIds }, recordedAt),
  };
}

function commonTerms(terms: Terms) {
  const { royaltyWei = 0n } = terms;
  const royalty = royaltyWei === 0n ? null : { recipient: addressOf(0xcafe), royaltyWei };
  return {
    quantity: terms.quantity ?? 1n,
    price: { unitPriceWei: terms.unitPriceWei ?? 10n ** 18n, fee, royalty },
    order: {
      maker: terms.maker,
      startTime: terms.startTime ?? receivedAt,
      endTime: terms.endTime ?? receivedAt + 86_400n,
      salt: terms.salt ?? 0n,
      counter: terms.counter ?? 0n,
    },
  };
}

function given(
  terms: Terms,
  side: "ask" | "bid",
  tokenId: bigint | null,
  components: OrderComponents,
  criteria?: Criteria,
): GivenOrder {
  const { chainId = 1, contract, standard = "erc721" } = terms;
  const { price, quantity } = commonTerms(terms);
  const { sellerNetWei, feeLegs } = priceLegs(price);
  const fees = feeLegs.map((leg) => ({ ...leg, kind: "service" as const }));
  const hash = orderHash(components);
  const { unitPriceWei } = price;
  const subject = { side, contract, standard, tokenId, ...(criteria && { criteria }) };
  const traded = { ...subject, quantity, unitPriceWei, sellerNetWei, fees };
  const submitted = orderSubmitted({
    chainId,
    orderHash: hash,
    components,
    signature: `0x${"11".repeat(65)}`,
    terms: traded,
    receivedAt: new Date(Number(terms.receivedAt ?? receivedAt) * 1000),
  });
  return { chainId, orderHash: hash, components, quantity, terms: traded, submitted };
}

type FactPosition = { at: Block; log?: number };

const columnsOf = ({ at, log = 0 }: FactPosition) => ({ block: at, logIndex: log });

/** A fill of some units, as the exchange emits it. */
export function filled(
  order: GivenOrder,
  units: bigint,
  position: FactPosition,
  recipient = addressOf(0xb0b),
): ChainEvent {
  const { components, quantity } = order;
  const spent = (item: OrderComponents["offer"][number]) => ({
    itemType: item.itemType,
    token: item.token,
    identifier: item.identifierOrCriteria.toString(),
    amount: ((item.startAmount * units) / quantity).toString(),
  });
  return {
    ...columnsOf(position),
    kind: "order_fulfilled",
    contract: seaportAddresses["1.6"],
    from: components.offerer,
    to: recipient,
    orderHash: order.orderHash,
    payload: {
      zone: components.zone,
      offer: components.offer.map(spent),
      consideration: components.consideration.map((item) => ({
        ...spent(item),
        recipient: item.recipient,
      })),
    },
  };
}

export function cancelled(order: GivenOrder, position: FactPosition): ChainEvent {
  const { components, orderHash } = order;
  return {
    ...columnsOf(position),
    kind: "order_cancelled",
    contract: seaportAddresses["1.6"],
    from: components.offerer,
    orderHash,
    payload: { zone: components.zone },
  };
}

export function counterRaised(maker: Address, counter: bigint, position: FactPosition): ChainEvent {
  return {
    ...columnsOf(position),
    kind: "counter_incremented",
    contract: seaportAddresses["1.6"],
    from: maker,
    amount: counter,
  };
}

/** `ApprovalForAll` for the common conduit. */
export function approval(
  contract: Address,
  owner: Address,
  approved: boolean,
  position: FactPosition,
): ChainEvent {
  return {
    ...columnsOf(position),
    kind: "approval_for_all",
    contract,
    from: owner,
    to: commonConduit.address,
    amount: approved ? 1n : 0n,
  };
}

export function channelUpdated(open: boolean, position: FactPosition): ChainEvent {
  return {
    ...columnsOf(position),
    kind: "channel_updated",
    contract: commonConduit.address,
    to: seaportAddresses["1.6"],
    amount: open ? 1n : 0n,
  };
}

/** The fact of a reading at the end of a block, whether or not it differs from the log. */
export function read(reading: ChainReading, { chainId, ...at }: Block): Observation {
  const basis = {
    number: BigInt(at.number),
    hash: at.hash,
    timestamp: new Date(at.timestamp * 1000),
  };
  return readingObserved({ chainId: chainId as ChainId, basis }, reading, basis.timestamp);
}

export function ticked(unixSeconds: bigint): Observation {
  return {
    kind: "clock_ticked",
    chainId: 1,
    identity: keccak256(stringToHex(`tick ${unixSeconds}`)),
    recordedAt: new Date(Number(unixSeconds) * 1000),
    amount: unixSeconds,
  };
}

type Transfer = {
  contract: Address;
  from?: Address;
  to: Address;
  tokenId: bigint;
  /** ERC-1155; absent: ERC-721. */
  units?: bigint;
};

export function transferred(transfer: Transfer, position: FactPosition): ChainEvent {
  const { contract, from = zeroAddress, to, tokenId, units } = transfer;
  return {
    ...columnsOf(position),
    kind: units === undefined ? "erc721_transfer" : "erc1155_transfer",
    contract,
    from,
    to,
    tokenId,
    ...(units === undefined ? {} : { amount: units }),
  };
}
