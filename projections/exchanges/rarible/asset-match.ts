import { type Address, decodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from "viem";
import type { FeePayment, Trade } from "../model/trade.ts";
import type { EmittedEvent } from "../model/translate-events.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";

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
export function createAssetTranslator(): (event: EmittedEvent) => Trade | null {
  let moved: Transfer[] = [];
  return (event) => {
    if (event.event === "Transfer") moved.push(event.args as Transfer);
    if (event.event !== "Match") return null;
    const own = moved;
    moved = [];
    return tradeOf(event, own);
  };
}

function tradeOf({ args, contract, logIndex }: EmittedEvent, moved: readonly Transfer[]): Trade {
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
