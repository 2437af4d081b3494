import { type Address, encodeAbiParameters, parseAbiParameters, zeroAddress, zeroHash } from "viem";
import { foundationMarket } from "#abis/foundation.ts";
import { nftxFactories } from "#abis/nftx.ts";
import { sudoswapFactories } from "#abis/sudoswap.ts";
import { wrappedNative } from "#chains/index.ts";
import { addressOf } from "#test/support/database/given.ts";
import { collector, type Emitter, pool, someCurrency, someFees, type Trade } from "./emitted.ts";

const foundation: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const source = "Foundation";
  const amounts = { protocolFee: "5", creatorFee: "10", sellerRev: wei };
  if (random.chance(0.3)) {
    const args = { auctionId: "1", seller, bidder: buyer, ...amounts };
    const events = [{ source, event: "ReserveAuctionFinalized", args }];
    return { events, holder: foundationMarket };
  }
  const event = random.pick(["BuyPriceAccepted", "OfferAccepted", "PrivateSaleFinalized"]);
  const args = { nftContract: contract, tokenId: `${tokenId}`, seller, buyer, ...amounts };
  return { events: [{ source, event, args }] };
};

const archipelago: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const source = "Archipelago";
  const currency = wrappedNative[1];
  const trade = { tradeId: orderHash, buyer, seller, price: wei, proceeds: wei, cost: wei };
  const royalties = someFees(random).map((amount) => ({
    ...{ source, event: "RoyaltyPayment" },
    args: { tradeId: orderHash, payer: buyer, recipient: collector, micros: "1", amount, currency },
  }));
  const token = { tradeId: orderHash, token: contract, tokenId: `${tokenId}` };
  return {
    events: [
      ...royalties,
      { source, event: "Trade", args: { ...trade, currency } },
      ...(random.chance(0.9) ? [{ source, event: "TokenTrade", args: token }] : []),
    ],
  };
};

const zoraAsk: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const source = "ZoraAsks";
  const token = { tokenContract: contract, tokenId: `${tokenId}` };
  const royalties = someFees(random).map((amount) => {
    return { source, event: "RoyaltyPayout", args: { ...token, recipient: collector, amount } };
  });
  const terms = { askCurrency: someCurrency(random), findersFeeBps: 200, askPrice: wei };
  const ask = { seller, sellerFundsRecipient: seller, ...terms };
  const finder = random.pick([zeroAddress, collector]);
  const args = { ...token, buyer, finder, ask };
  return { events: [...royalties, { source, event: "AskFilled", args }] };
};

const zoraAuction: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const args = {
    ...{ auctionId: "1", tokenId: `${tokenId}`, tokenContract: contract, tokenOwner: seller },
    ...{ curator: collector, winner: buyer, amount: wei, curatorFee: "5" },
    auctionCurrency: someCurrency(random),
  };
  const house: Address = "0xe468ce99444174bd3bbbed09209577d25d1ad673";
  return { events: [{ source: "ZoraAuctions", event: "AuctionEnded", args }], holder: house };
};

const element: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const event = random.pick(["ERC721SellOrderFilled", "ERC721BuyOrderFilled"]);
  const isAsk = event.includes("Sell");
  const [maker, taker] = isAsk ? [seller, buyer] : [buyer, seller];
  const fees = someFees(random).map((amount) => ({ recipient: collector, amount }));
  const [source, withFees] = random.pick([["Element", {}] as const, ["ElementFees", { fees }]]);
  const args = {
    ...{ orderHash, maker, taker, erc20Token: addressOf(80), erc20TokenAmount: wei },
    ...{ token: contract, tokenId: `${tokenId}`, ...withFees },
  };
  return { events: [{ source, event, args }], payments: onTop({ seller, buyer, wei }) };
};

const zeroex: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const direction = random.pick([0, 0, 1, 1, 2]);
  const [maker, taker] = direction === 0 ? [seller, buyer] : [buyer, seller];
  const args = {
    ...{ direction, maker, taker, nonce: "1", erc20Token: addressOf(80), erc20TokenAmount: wei },
    ...{ erc721Token: contract, erc721TokenId: `${tokenId}`, matcher: zeroAddress },
  };
  const events = [{ source: "ZeroExNft", event: "ERC721OrderFilled", args }];
  return { events, payments: onTop({ seller, buyer, wei }) };
};

/** A price in a coin, and a fee that the buyer pays beside it. */
const onTop = ({ seller, buyer, wei }: Pick<Trade, "seller" | "buyer" | "wei">) => [
  { contract: addressOf(80), from: buyer, to: seller, amount: wei },
  { contract: addressOf(80), from: buyer, to: collector, amount: "25" },
];

const raribleV1: Emitter = ({ contract, tokenId, seller, buyer, wei }, random) => {
  const args = {
    ...{ sellToken: contract, sellTokenId: `${tokenId}`, sellValue: random.pick(["1", "0"]) },
    ...{ owner: seller, buyToken: zeroAddress, buyTokenId: "0", buyValue: wei, buyer },
    ...{ amount: "1", salt: "1" },
  };
  return { events: [{ source: "RaribleV1", event: "Buy", args }] };
};

const nftData = parseAbiParameters("address, uint256");
const ether = { assetClass: "0xaaaebeba", data: "0x" };

const raribleAssets: Emitter = ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
  const source = "RaribleAssets";
  const nft = { assetClass: "0x73ad2146", data: encodeAbiParameters(nftData, [contract, tokenId]) };
  const isAsk = random.chance(0.5);
  const paid = (to: Address, value: string, transferType: string) => ({
    ...{ source, event: "Transfer" },
    args: { asset: { assetType: ether, value }, from: buyer, to, transferType },
  });
  const [ask, bid] = [
    { maker: seller, asset: nft, fill: wei },
    { maker: buyer, asset: ether, fill: "1" },
  ];
  const [left, right] = isAsk ? [ask, bid] : [bid, ask];
  const args = {
    ...{ leftHash: orderHash, rightHash: zeroHash, leftMaker: left.maker, rightMaker: right.maker },
    ...{ newLeftFill: left.fill, newRightFill: right.fill },
    ...{ leftAsset: left.asset, rightAsset: right.asset },
  };
  const payments = [paid(seller, wei, "0xa10bb5b2"), paid(collector, "25", "0x30a28ad4")];
  const before = random.chance(0.8) ? payments : [];
  return { events: [...before, { source, event: "Match", args }] };
};

const raribleV2: Emitter = ({ seller, buyer, wei, orderHash }, random) => {
  const fills = random.shuffle([wei, "1"]);
  const args = {
    ...{ leftHash: orderHash, rightHash: zeroHash },
    ...{ newLeftFill: fills[0], newRightFill: fills[1] },
  };
  const payments = random.chance(0.5) ? onTop({ seller, buyer, wei }) : [];
  return { events: [{ source: "RaribleV2", event: "Match", args }], payments };
};

const answers = [{ coin: zeroAddress }, { coin: addressOf(80) }, { coin: null }, {}];

/** A pool that somebody made up, now and then. It says what it is paid in, or was not asked. */
const sudoswapV2: Emitter = ({ tokenId, wei }, random) => {
  const isRoyalty = random.chance(0.5);
  const isErc1155 = random.chance(0.5);
  const standard = isErc1155 ? "Erc1155" : "";
  const args = {
    ...{ amountIn: wei, ...(isErc1155 ? { numNFTs: "1" } : { ids: [`${tokenId}`] }) },
    ...(isRoyalty ? { royaltyAmount: "0" } : {}),
  };
  const source = `SudoswapV2${standard}${isRoyalty ? "Royalty" : ""}`;
  const factory = random.chance(0.8) ? sudoswapFactories["2"] : null;
  // By the token, not drawn: what a test sees of other steps stays with its seeds.
  const paidIn = answers[Number(BigInt(tokenId) % 4n)] ?? {};
  return { events: [{ source, event: "SwapNFTOutPair", args, factory, ...paidIn }], holder: pool };
};

const sudoswapV1: Emitter = ({ buyer, wei }, random) => ({
  events: [
    { source: "SudoswapV1", event: "SwapNFTOutPair", args: {}, factory: sudoswapFactories["1"] },
  ],
  payments: random.chance(0.7)
    ? [{ contract: addressOf(80), from: buyer, to: pool, amount: wei }]
    : [],
  holder: pool,
});

/** The vault's coins are bought for what is paid in another coin. */
const nftx: Emitter = ({ tokenId, buyer, wei }, random) => {
  const version = random.pick(["2", "3"] as const);
  const args = { nftIds: [`${tokenId}`], to: buyer };
  const factory = nftxFactories[version];
  return {
    events: [{ source: `NftxV${version}`, event: "Redeemed", args, factory }],
    payments: [
      { contract: addressOf(80), from: buyer, to: collector, amount: wei },
      { contract: pool, from: collector, to: buyer, amount: "1000" },
    ],
    holder: pool,
  };
};

const fork =
  (...sources: readonly string[]): Emitter =>
  ({ contract, tokenId, seller, buyer, wei, orderHash }, random) => {
    const offer = [{ itemType: 2, token: contract, identifier: `${tokenId}`, amount: "1" }];
    const money = { itemType: 0, token: zeroAddress, identifier: "0", amount: wei };
    const consideration = [{ ...money, recipient: seller }];
    const parties = { offerer: seller, zone: zeroAddress, recipient: buyer };
    const args = { orderHash, ...parties, offer, consideration };
    return { events: [{ source: random.pick(sources), event: "OrderFulfilled", args }] };
  };

/** On both chains. */
export const mintify = fork("Mintify");

export const smallExchanges: readonly Emitter[] = [
  ...[foundation, archipelago, zoraAsk, zoraAuction, element, zeroex, raribleV1, raribleAssets],
  ...[raribleV2, sudoswapV1, sudoswapV2, nftx, fork("Alienswap", "Okx")],
];
