import { MerkleTree } from "@opensea/seaport-js/lib/utils/merkletree.js";
import {
  type Address,
  encodeFunctionData,
  type Hex,
  maxUint256,
  numberToHex,
  parseAbi,
  zeroHash,
} from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import { nftOf, type StoredOrder } from "./stored-order.ts";

/** The simulated filler: an otherwise unused account with overridden balance that mints any token. */
export const filler: Address = "0x00000000000000000000000000000000f111e400";
const unusedTokenId = 10n ** 30n;

const mintAbi = parseAbi([
  "function mint(address to, uint256 id)",
  "function mint(address to, uint256 id, uint256 units)",
]);

/** An order, and the units that are tried. */
export type FillAttempt = { order: StoredOrder; units: bigint };

export type Call = { from?: Address; to: Address; data: Hex; value?: Hex };

/** The tokens by which a bid is tried: as many as units, of ERC-1155 one. */
export function triedTokens({ order, units }: FillAttempt): readonly bigint[] {
  const { tokenId, standard, byCriteria } = nftOf(order);
  const count = standard === "erc1155" ? 1 : Number(units);
  // Those of a set again from its start, where it has fewer.
  const drawn = (index: number) => order.tokenSet?.[index % order.tokenSet.length];
  const unused = (index: number) => (byCriteria ? unusedTokenId : tokenId) + BigInt(index);
  return Array.from({ length: count }, (_, index) => drawn(index) ?? unused(index));
}

/** Calls of the filler. `owners` own the tokens by which a bid is tried; null: it is minted. */
export function fillCalls(attempt: FillAttempt, owners: readonly (Address | null)[]): Call[] {
  return attempt.order.side === "listings" ? [purchase(attempt)] : sale(attempt, owners);
}

function purchase({ order, units }: FillAttempt): Call {
  const { quantity } = nftOf(order);
  const wholeWei = order.components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const value = numberToHex((wholeWei * units) / quantity);
  return { from: filler, to: seaportAddresses["1.6"], data: fill(order, units, []), value };
}

/** The filler receives the tokens, approves the exchange for them and for the fees, and sells. */
function sale(attempt: FillAttempt, owners: readonly (Address | null)[]): Call[] {
  const { order, units } = attempt;
  const { contract, standard, byCriteria } = nftOf(order);
  const [paid] = order.components.offer;
  if (paid === undefined) throw new TypeError("a bid without a payment");
  const from = filler;
  const exchange = seaportAddresses["1.6"];
  const approveAll = encodeFunctionData({
    abi: erc721Abi,
    functionName: "setApprovalForAll",
    args: [exchange, true],
  });
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [exchange, maxUint256],
  });
  const ids = triedTokens(attempt);
  const share = standard === "erc1155" ? units : 1n;
  const received = (id: bigint, owner: Address | null): Call => {
    if (standard === "erc1155") return { from, to: contract, data: mint(id, units) };
    if (owner === null) return { from, to: contract, data: mint(id) };
    return { from: owner, to: contract, data: transferToFiller(owner, id) };
  };
  const sold = (id: bigint): Call => {
    const resolvers = byCriteria ? [resolver(id, proofOf(order, id))] : [];
    return { from, to: exchange, data: fill(order, share, resolvers) };
  };
  return [
    ...ids.map((id, index) => received(id, owners[index] ?? null)),
    { from, to: contract, data: approveAll },
    { from, to: paid.token, data: approve },
    ...ids.map(sold),
  ];
}

/** By OpenSea's tree, not by ours. */
const proofOf = ({ tokenSet }: StoredOrder, id: bigint): Hex[] =>
  tokenSet === undefined ? [] : (new MerkleTree(tokenSet.map(String)).getProof(`${id}`) as Hex[]);

const resolver = (identifier: bigint, criteriaProof: readonly Hex[]) =>
  ({ orderIndex: 0n, side: 1, index: 0n, identifier, criteriaProof }) as const;

function mint(id: bigint, units?: bigint): Hex {
  return units === undefined
    ? encodeFunctionData({ abi: mintAbi, functionName: "mint", args: [filler, id] })
    : encodeFunctionData({ abi: mintAbi, functionName: "mint", args: [filler, id, units] });
}

const transferToFiller = (owner: Address, tokenId: bigint) =>
  encodeFunctionData({
    abi: erc721Abi,
    functionName: "transferFrom",
    args: [owner, filler, tokenId],
  });

function fill(
  { components, signature }: StoredOrder,
  units: bigint,
  resolvers: readonly ReturnType<typeof resolver>[],
): Hex {
  const { counter: _, ...parameters } = components;
  const nft = [...components.offer, ...components.consideration].find(
    ({ itemType }) => itemType >= 2,
  );
  const isWhole = nft?.startAmount === units;
  const order = {
    parameters: {
      ...parameters,
      totalOriginalConsiderationItems: BigInt(components.consideration.length),
    },
    numerator: isWhole ? 1n : units,
    denominator: isWhole ? 1n : (nft?.startAmount ?? 0n),
    signature,
    extraData: "0x",
  } as const;
  return encodeFunctionData({
    abi: seaportFunctions,
    functionName: "fulfillAdvancedOrder",
    args: [order, resolvers, zeroHash, filler],
  });
}
