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

/** Calls of the filler. `owner` owns the token that a bid requests; null: it is minted. */
export function fillCalls(attempt: FillAttempt, owner: Address | null): Call[] {
  return attempt.order.side === "listings" ? [purchase(attempt)] : sale(attempt, owner);
}

function purchase({ order, units }: FillAttempt): Call {
  const { quantity } = nftOf(order);
  const wholeWei = order.components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const value = numberToHex((wholeWei * units) / quantity);
  return { from: filler, to: seaportAddresses["1.6"], data: fill(order, units, []), value };
}

/** The filler receives the token, approves the exchange for it and for the fees, and sells. */
function sale({ order, units }: FillAttempt, owner: Address | null): Call[] {
  const { contract, tokenId, standard, byCriteria } = nftOf(order);
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
  const id = byCriteria ? unusedTokenId : tokenId;
  const sell = (of: bigint, share: bigint): Call => ({
    from,
    to: exchange,
    data: fill(order, share, byCriteria ? [resolver(of)] : []),
  });
  const parts = Array.from({ length: Number(units) }, (_, index) => id + BigInt(index));
  const tokens =
    standard === "erc1155"
      ? [{ from, to: contract, data: mint(id, units) }]
      : parts.map((part) =>
          owner === null
            ? { from, to: contract, data: mint(part) }
            : { from: owner, to: contract, data: transferToFiller(owner, part) },
        );
  return [
    ...tokens,
    { from, to: contract, data: approveAll },
    { from, to: paid.token, data: approve },
    ...(standard === "erc1155" ? [sell(id, units)] : parts.map((part) => sell(part, 1n))),
  ];
}

const resolver = (identifier: bigint) =>
  ({ orderIndex: 0n, side: 1, index: 0n, identifier, criteriaProof: [] }) as const;

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
