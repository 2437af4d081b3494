import { type Address, encodeFunctionData, zeroAddress } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import { sudoswapFactories } from "#abis/sudoswap.ts";
import { erc20Abi, erc721Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { blurExchangeAbi, sudoswapFactoryAbi, sudoswapPoolAbi } from "../contracts/abis.ts";
import type { Actor, Scenario } from "./actors.ts";
import { drawOther, drawPriceWei, drawPunk, punkRange } from "./seed-tokens.ts";
import type { MarketContext } from "./signer.ts";

const exchange = blurAddresses.v2;
const factory: Address = sudoswapFactories["2"];

/** A listing of Blur, taken for ether. Its event packs its terms and does not name the buyer. */
const sellsOnBlur: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const price = drawPriceWei(market, "erc721");
  await approve(owner, nft.contract, exchange);
  const take = await post(market, owner, [nft.contract, nft.tokenId, price, false]);
  await drawOther(market, actors, owner).transact({ to: exchange, data: take, value: price });
};

/** A bid of Blur, paid in the coins of its pool. */
const sellsIntoBidOfBlur: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const bidder = drawOther(market, actors, owner);
  const price = drawPriceWei(market, "erc721");
  const deposit = encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" });
  await bidder.transact({ to: blurAddresses.pool, data: deposit, value: price });
  const allowed = await market.client.readContract({
    address: blurAddresses.pool,
    abi: erc20Abi,
    functionName: "allowance",
    args: [bidder.address, exchange],
  });
  const args = [exchange, allowed + price] as const;
  const allow = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args });
  await bidder.transact({ to: blurAddresses.pool, data: allow });
  const take = await post(market, bidder, [nft.contract, nft.tokenId, price, true]);
  await approve(owner, nft.contract, exchange);
  await owner.transact({ to: exchange, data: take });
};

/** A pool sells a token and buys it back for less. Its events name neither party. */
const tradesWithPool: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors, punkRange);
  const pool = await openPool(market, owner, nft.contract);
  const abi = sudoswapPoolAbi;
  const price = await market.client.readContract({ address: pool, abi, functionName: "price" });
  await owner.transfers(nft, { address: pool });
  const buyer = drawOther(market, actors, owner);
  const args = [[nft.tokenId]] as const;
  const buy = encodeFunctionData({ abi, functionName: "swapTokenForSpecificNFTs", args });
  await buyer.transact({ to: pool, data: buy, value: price });
  if (market.random.below(2) === 0) return;
  await approve(buyer, nft.contract, pool);
  const sell = encodeFunctionData({ abi, functionName: "swapNFTsForToken", args });
  await buyer.transact({ to: pool, data: sell });
  await drawOther(market, actors, buyer).transact({ to: pool, data: buy, value: price });
};

/** Where Blur and Sudoswap are, as these scenarios need. */
export function hasOtherExchanges(chainId: ChainId): boolean {
  const { blur, sudoswap } = chainById(chainId).exchanges;
  return blur !== null && sudoswap !== null;
}

export const otherExchanges: readonly [Scenario, ...Scenario[]] = [
  sellsOnBlur,
  sellsIntoBidOfBlur,
  tradesWithPool,
];

type Posted = readonly [collection: Address, tokenId: bigint, price: bigint, isBid: boolean];

/** Posts an order. Returns the calldata that takes it. */
async function post({ client }: MarketContext, maker: Actor, args: Posted) {
  const abi = blurExchangeAbi;
  const hash = await client.readContract({ address: exchange, abi, functionName: "nextHash" });
  const data = encodeFunctionData({ abi, functionName: "post", args });
  await maker.transact({ to: exchange, data });
  return encodeFunctionData({ abi, functionName: "take", args: [hash] });
}

async function openPool({ client }: MarketContext, owner: Actor, collection: Address) {
  const abi = sudoswapFactoryAbi;
  const read = () => client.readContract({ address: factory, abi, functionName: "lastPool" });
  const pool = await read();
  if (pool !== zeroAddress) return pool;
  const args = [collection, 10n ** 18n] as const;
  const data = encodeFunctionData({ abi, functionName: "createPair", args });
  await owner.transact({ to: factory, data });
  return read();
}

const approve = (owner: Actor, contract: Address, operator: Address) =>
  owner.transact({
    to: contract,
    data: encodeFunctionData({
      abi: erc721Abi,
      functionName: "setApprovalForAll",
      args: [operator, true],
    }),
  });
