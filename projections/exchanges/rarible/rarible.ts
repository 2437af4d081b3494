import { type Address, decodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from "viem";
import { raribleAssetEvents, raribleV1Events, raribleV2Events } from "#abis/rarible.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { type LogRange, nftTransfers, payments, sumOfAmounts } from "../model/payments.ts";

/** Each source is a form of its own. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const translateAssets = createAssetTranslator();
  let previous = -1;
  return translateEvents(transaction, (event) => {
    if (event.source === "RaribleV1") return buyTrade(event);
    if (event.source === "RaribleAssets") return translateAssets(event);
    const range = { after: previous, before: event.logIndex };
    previous = event.logIndex;
    return matchTrade(event, transaction.transfers, range);
  });
}

type Buy = {
  sellToken: Address;
  sellTokenId: string;
  /** Units that the order sells, for `buyValue` in all. */
  sellValue: string;
  owner: Address;
  buyToken: Address;
  buyValue: string;
  buyer: Address;
  /** Units sold. */
  amount: string;
};

/** The price is without the buyer's fee, of which no log tells. */
function buyTrade({ args, contract, logIndex }: PlacedEvent): Trade {
  const { sellToken, sellTokenId, sellValue, owner, buyToken, buyValue, buyer, amount } =
    args as Buy;
  const units = BigInt(amount);
  return {
    items: [{ contract: sellToken, tokenId: sellTokenId, units, seller: owner, buyer }],
    currency: buyToken,
    totalWei: (BigInt(buyValue) * units) / BigInt(sellValue),
    fees: [],
    side: "ask",
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    logIndex,
    zones: [],
  };
}

type MatchedFills = { leftHash: Hex; newLeftFill: string; newRightFill: string };

/**
 * `Match` without parties and assets: the token is the one transferred before it. The left order was made first; what
 * it gives is the right fill.
 */
function matchTrade(
  { args, contract, logIndex }: PlacedEvent,
  transfers: readonly TokenTransfer[],
  range: LogRange,
): Trade {
  const { leftHash, newLeftFill, newRightFill } = args as MatchedFills;
  const transfer = nftTransfers(transfers, range).at(-1);
  if (transfer === undefined) throw new UnresolvableEvent("transfer_missing");
  const { contract: nft, tokenId, amount, from: seller, to: buyer } = transfer;
  if ((newLeftFill === amount) === (newRightFill === amount)) {
    throw new UnresolvableEvent("unknown_type");
  }
  const isAsk = newRightFill === amount;
  const wei = BigInt(isAsk ? newLeftFill : newRightFill);
  return {
    items: [{ contract: nft, tokenId, units: BigInt(amount), seller, buyer, transfer }],
    ...paidIn(payments(transfers, { ...range, from: buyer }), seller, wei),
    side: isAsk ? "ask" : "bid",
    exchange: contract,
    protocolVersion: "2",
    orderHash: leftHash,
    logIndex,
    zones: [],
  };
}

/**
 * Of a price in coins the buyer's transfers are all of it. More of them are another matter as well; less may hide a coin
 * that moves without its log.
 */
function paidIn(
  paid: readonly TokenTransfer[],
  seller: Address,
  wei: bigint,
): Pick<Trade, "currency" | "totalWei" | "fees"> {
  const currency = paid.findLast(({ to }) => to === seller)?.contract;
  if (currency === undefined) return { currency: zeroAddress, totalWei: wei, fees: [] };
  const own = paid.filter(({ contract }) => contract === currency);
  const totalWei = sumOfAmounts(own);
  if (totalWei < wei) throw new UnresolvableEvent("currency_unknown");
  if (totalWei > wei + wei / 10n) return { currency, totalWei: wei, fees: [] };
  const fees = own
    .filter(({ to }) => to !== seller)
    .map(({ to, amount }): FeePayment => ({ recipient: to, wei: BigInt(amount) }));
  return { currency, totalWei, fees };
}

type AssetType = { assetClass: Hex; data: Hex };
type Transfer = {
  asset: { assetType: AssetType; value: string };
  from: Address;
  to: Address;
  transferType: Hex;
};
type Match = {
  leftHash: Hex;
  leftMaker: Address;
  rightMaker: Address;
  newLeftFill: string;
  newRightFill: string;
  leftAsset: AssetType;
  rightAsset: AssetType;
};

/** Classes of assets: the first four bytes of the hashes of their names. */
const ETH: Hex = "0xaaaebeba";
const ERC20: Hex = "0x8ae85d84";
const nfts: ReadonlySet<Hex> = new Set(["0x73ad2146", "0x973bb640"]);

/** The type of a transfer to the seller. Others are fees and royalties. */
const PAYOUT: Hex = "0xa10bb5b2";

/**
 * `Match` with the parties and their assets. The left order was made first; each fill is what the order takes. Before
 * it each payment has an event of its own, in ether too: their sum is the price, which the fill leaves the buyer's fee
 * out of.
 */
function createAssetTranslator(): (event: PlacedEvent) => Trade | null {
  let moved: Transfer[] = [];
  return (event) => {
    if (event.event === "Transfer") moved.push(event.args as Transfer);
    if (event.event !== "Match") return null;
    const own = moved;
    moved = [];
    return tradeOf(event, own);
  };
}

function tradeOf({ args, contract, logIndex }: PlacedEvent, moved: readonly Transfer[]): Trade {
  const match = args as Match;
  const isAsk = nfts.has(match.leftAsset.assetClass);
  const { leftAsset, rightAsset, leftMaker, rightMaker, newLeftFill, newRightFill } = match;
  const left = { asset: leftAsset, maker: leftMaker, gives: newRightFill };
  const right = { asset: rightAsset, maker: rightMaker, gives: newLeftFill };
  const [sold, paid] = isAsk ? [left, right] : [right, left];
  const buyer = paid.maker;
  return {
    items: [{ ...tokenOf(sold.asset), units: BigInt(sold.gives), seller: sold.maker, buyer }],
    currency: currencyOf(paid.asset),
    ...priceOf(
      moved.filter((one) => one.from === buyer && isIn(one, paid.asset)),
      paid.gives,
    ),
    side: isAsk ? "ask" : "bid",
    exchange: contract,
    protocolVersion: "2",
    orderHash: match.leftHash,
    logIndex,
    zones: [],
  };
}

function priceOf(payments: readonly Transfer[], fill: string): Pick<Trade, "totalWei" | "fees"> {
  const fees = payments
    .filter(({ transferType }) => transferType !== PAYOUT)
    .map(({ to, asset }): FeePayment => ({ recipient: to, wei: BigInt(asset.value) }));
  const totalWei = payments.reduce((sum, { asset }) => sum + BigInt(asset.value), 0n);
  return { totalWei: payments.length === 0 ? BigInt(fill) : totalWei, fees };
}

const isIn = ({ asset }: Transfer, { assetClass, data }: AssetType) =>
  asset.assetType.assetClass === assetClass && asset.assetType.data === data;

const token = parseAbiParameters("address contract, uint256 tokenId");
const coin = parseAbiParameters("address contract");

function tokenOf({ assetClass, data }: AssetType): { contract: Address; tokenId: string } {
  if (!nfts.has(assetClass)) throw new UnresolvableEvent("unknown_type");
  const [contract, tokenId] = decodeAbiParameters(token, data);
  return { contract: contract.toLowerCase() as Address, tokenId: tokenId.toString() };
}

function currencyOf({ assetClass, data }: AssetType): Address {
  if (assetClass === ETH) return zeroAddress;
  if (assetClass !== ERC20) throw new UnresolvableEvent("unknown_type");
  return decodeAbiParameters(coin, data)[0].toLowerCase() as Address;
}

/** Two contracts, of which the second changed the arguments of its `Match`. */
export const rarible: Exchange = {
  protocol: "rarible",
  marketplace: "rarible",
  sources: [
    sourceOf("rarible", "RaribleV1", raribleV1Events, ["Buy"]),
    sourceOf("rarible", "RaribleAssets", raribleAssetEvents, ["Match"]),
    sourceOf("rarible", "RaribleV2", raribleV2Events, ["Match"]),
  ],
  tradesOf,
};
