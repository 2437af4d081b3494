import { type Address, encodeFunctionData, type Hex, zeroHash } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { collectionAbi, editionsAbi } from "#devnet/contracts/abis.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { advancedOrder, orderParameters } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";

/** A transaction; its sender needs no key. */
export type Call = { from: Address; to: Address; data: Hex; value?: bigint };

const exchange = seaportAddresses["1.6"];
const editionIds = Array.from({ length: 15 }, (_, index) => BigInt(index));

export function mintCall(from: Address, to: Address, firstId: bigint, count: number): Call {
  const args = [from, firstId, BigInt(count)] as const;
  const data = encodeFunctionData({ abi: collectionAbi, functionName: "mintBatch", args });
  return { from, to, data };
}

export function transferCall(from: Address, to: Address, tokenId: bigint, taker: Address): Call {
  const args = [from, taker, tokenId] as const;
  const data = encodeFunctionData({ abi: erc721Abi, functionName: "transferFrom", args });
  return { from, to, data };
}

/** Transfers one unit of each edition, by index. */
export function editionsCall(from: Address, taker: Address, indexes: readonly number[]): Call {
  const ids = indexes.map((index) => editionIds[index % editionIds.length] ?? 0n);
  const args = [from, taker, ids, ids.map(() => 1n), "0x"] as const;
  const data = encodeFunctionData({ abi: erc1155Abi, functionName: "safeBatchTransferFrom", args });
  return { from, to: contracts.editions, data };
}

export function fillCall(order: SignedOrder, from: Address, value: bigint): Call {
  const args = [advancedOrder(order), [], zeroHash, from] as const;
  const functionName = "fulfillAdvancedOrder";
  const data = encodeFunctionData({ abi: seaportFunctions, functionName, args });
  return { from, to: exchange, data, value };
}

export function cancelCall({ components }: SignedOrder): Call {
  const args = [[components]] as const;
  const data = encodeFunctionData({ abi: seaportFunctions, functionName: "cancel", args });
  return { from: components.offerer, to: exchange, data };
}

export function validateCall({ components, signature }: SignedOrder): Call {
  const args = [[{ parameters: orderParameters(components), signature }]] as const;
  const data = encodeFunctionData({ abi: seaportFunctions, functionName: "validate", args });
  return { from: components.offerer, to: exchange, data };
}

export function counterCall(from: Address): Call {
  const data = encodeFunctionData({ abi: seaportFunctions, functionName: "incrementCounter" });
  return { from, to: exchange, data };
}

/** Approvals of the conduit, and ERC-1155 tokens minted with one event. */
export function accountSetupCalls(from: Address, collections: readonly Address[]): Call[] {
  const approve = encodeFunctionData({
    abi: erc721Abi,
    functionName: "setApprovalForAll",
    args: [commonConduit.address, true],
  });
  const mint = encodeFunctionData({
    abi: editionsAbi,
    functionName: "mintBatch",
    args: [from, editionIds, editionIds.map(() => 1_000n)],
  });
  return [
    ...collections.map((to) => ({ from, to, data: approve })),
    { from, to: contracts.editions, data: mint },
  ];
}
