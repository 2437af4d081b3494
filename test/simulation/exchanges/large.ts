import { encodeAbiParameters, parseAbiParameters, zeroAddress, zeroHash } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import { wrappedNative } from "#chains/index.ts";
import { addressOf } from "#test/support/database/given.ts";
import { collector, type Emitter, someCurrency } from "./emitted.ts";

/** A packed word: two parties or prices in one integer. */
const packed = (high: bigint, low: `0x${string}`) => `${(high << 160n) | BigInt(low)}`;

const blurV1: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const terms = {
    ...{ collection: contract, tokenId: `${tokenId}`, amount: "1", price: wei },
    paymentToken: random.pick([zeroAddress, blurAddresses.pool]),
    fees: random.chance(0.5) ? [{ rate: 50, recipient: collector }] : [],
  };
  const order = (trader: string) => ({ ...terms, trader, listingTime: `${random.int(1, 3)}` });
  const [sell, buy] = [order(seller), order(buyer)];
  const args = { maker: seller, taker: buyer, sell, sellHash: orderHash, buy, buyHash: zeroHash };
  return { events: [{ source: "Blur", event: "OrdersMatched", args }] };
};

const blurPacked: Emitter = ({ tokenId, seller, buyer, contract, wei, orderHash }, random) => {
  const type = BigInt(random.int(0, 1));
  const args = {
    orderHash,
    tokenIdListingIndexTrader: packed(tokenId << 8n, type === 0n ? seller : buyer),
    collectionPriceSide: packed((type << 88n) | (BigInt(wei) % (1n << 88n)), contract),
  };
  const fee = packed(50n, collector);
  const [event, fees] = random.pick([
    ["Execution721Packed", {}],
    ["Execution721TakerFeePacked", { takerFeeRecipientRate: fee }],
    ["Execution721MakerFeePacked", { makerFeeRecipientRate: fee }],
  ] as const);
  return { events: [{ source: "BlurV2", event, args: { ...args, ...fees } }] };
};

const blurExecution: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const orderType = random.int(0, 1);
  const fee = (rate: number) => ({ recipient: collector, rate });
  const trader = orderType === 0 ? seller : buyer;
  const transfer = { trader, id: `${tokenId}`, amount: "1", collection: contract, assetType: 0 };
  const args = {
    ...{ transfer, orderHash, listingIndex: "0", price: wei, makerFee: fee(random.int(0, 100)) },
    ...{ fees: { protocolFee: fee(0), takerFee: fee(0) }, orderType },
  };
  return { events: [{ source: "BlurV2", event: "Execution", args }] };
};

const blend: Emitter = ({ contract, tokenId, seller, buyer, wei }) => ({
  events: [
    {
      ...{ source: "Blend", event: "BuyLocked" },
      args: { lienId: "1", collection: contract, buyer, seller, tokenId: `${tokenId}` },
    },
  ],
  payments: [{ contract: blurAddresses.pool, from: buyer, to: seller, amount: wei }],
  holder: blurAddresses.blend,
  isDeliveredLast: true,
});

export const paymentProcessor: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const event = random.pick(["BuyListingERC721", "AcceptOfferERC721"]);
  const parties = { buyer, seller, tokenAddress: contract, beneficiary: buyer };
  const args = {
    ...parties,
    ...{ paymentCoin: someCurrency(random), tokenId: `${tokenId}`, salePrice: wei },
  };
  return { events: [{ source: "PaymentProcessor", event, args }] };
};

const paymentProcessorV1: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const common = { marketplace: collector, tokenAddress: contract, paymentCoin: zeroAddress };
  const id = `${tokenId}`;
  const [event, args] = random.pick([
    ["BuySingleListing", { seller, tokenId: id, amount: "1", salePrice: wei }],
    [
      "SweepCollectionERC721",
      {
        ...{ unsuccessfulFills: [true, false], sellers: [buyer, seller] },
        ...{ tokenIds: ["3", id], salePrices: ["7", wei] },
      },
    ],
  ] as const);
  const source = "PaymentProcessorV1";
  return { events: [{ source, event, args: { ...common, buyer, ...args } }] };
};

const tokensOfX2y2 = parseAbiParameters("(address contract, uint256 tokenId)[]");

const x2y2: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const op = random.pick([1, 2, 5, 9]);
  const [maker, taker] = op === 1 ? [seller, buyer] : [buyer, seller];
  const args = {
    ...{ itemHash: orderHash, maker, taker, delegateType: random.pick(["1", "1", "1", "3"]) },
    currency: someCurrency(random),
    item: { price: wei, data: encodeAbiParameters(tokensOfX2y2, [[{ contract, tokenId }]]) },
    detail: { op, price: wei, fees: [{ percentage: "5000", to: collector }] },
  };
  return { events: [{ source: "X2Y2", event: "EvInventory", args }] };
};

const looksrareV1: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const event = random.pick(["TakerAsk", "TakerBid"]);
  const [maker, taker] = event === "TakerAsk" ? [buyer, seller] : [seller, buyer];
  const token = { collection: contract, tokenId: `${tokenId}`, currency: wrappedNative[1] };
  const strategy = "0x579af6fd30bf83a5ac0d636bc619f98dbdeb930c";
  const args = { orderHash, taker, maker, strategy, ...token, amount: "1", price: wei };
  const royalty = { ...token, royaltyRecipient: collector, amount: "5" };
  const source = "LooksRareV1";
  const before = random.chance(0.5) ? [{ source, event: "RoyaltyPayment", args: royalty }] : [];
  return { events: [...before, { source, event, args }] };
};

const looksrareV2: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const event = random.pick(["TakerAsk", "TakerBid"]);
  const parties =
    event === "TakerBid"
      ? { bidUser: buyer, bidRecipient: buyer }
      : { askUser: seller, bidUser: buyer };
  const args = {
    ...{ nonceInvalidationParameters: { orderHash }, ...parties, currency: addressOf(80) },
    ...{ collection: contract, itemIds: [`${tokenId}`], amounts: ["1"] },
    ...{ feeRecipients: [seller, collector], feeAmounts: [wei, "5", "1"] },
  };
  return { events: [{ source: "LooksRareV2", event, args }] };
};

/** Neither token nor currency: what moved before. */
const wyvern: Emitter = ({ seller, buyer, wei, orderHash }, random) => {
  const args = { buyHash: zeroHash, sellHash: orderHash, maker: seller, taker: buyer, price: wei };
  const coins = { contract: addressOf(80), from: buyer, to: seller, amount: wei };
  return {
    events: [{ source: random.pick(["WyvernV1", "WyvernV2"]), event: "OrdersMatched", args }],
    payments: random.chance(0.5) ? [coins] : [],
  };
};

/** An offer that was taken, or a bid, of which the event says zero. */
export const punkBought: Emitter = ({ tokenId, seller, buyer, wei }, random) => {
  const isBid = random.chance(0.5);
  const args = {
    ...{ punkIndex: `${tokenId}`, value: isBid ? "0" : wei, fromAddress: seller },
    toAddress: isBid ? zeroAddress : buyer,
  };
  const bid = isBid ? { bid: { bidder: buyer, wei } } : {};
  return { events: [{ source: "CryptoPunks", event: "PunkBought", args, ...bid }] };
};

export const largeExchanges: readonly Emitter[] = [
  ...[blurV1, blurPacked, blurExecution, blend, paymentProcessor, paymentProcessorV1],
  ...[x2y2, looksrareV1, looksrareV2, wyvern, punkBought],
];
