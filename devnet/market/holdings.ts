import { type Address, encodeFunctionData, type Hex } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { collectionAbi, editionsAbi } from "./fixture-abis.ts";
import type { Signer } from "./signer.ts";

type Holder = { address: Address };
type Editions = { contract: Address; tokenIds: readonly bigint[]; units: bigint };

/** Minting, moving, burning and approving tokens. */
export function holdings(signer: Signer) {
  const { address, transact } = signer;
  const approve = (contract: Address, approved: boolean) =>
    transact({
      to: contract,
      data: encodeFunctionData({
        abi: erc721Abi,
        functionName: "setApprovalForAll",
        args: [commonConduit.address, approved],
      }),
    });
  return {
    mints: (nft: Nft, units = 1n) =>
      transact({ to: nft.contract, data: mintData(address, nft, units) }),

    /** `count` tokens of an ERC-721, one `Transfer` each. */
    mintsRange: (contract: Address, fromId: bigint, count: bigint) =>
      transact({
        to: contract,
        data: encodeFunctionData({
          abi: collectionAbi,
          functionName: "mintBatch",
          args: [address, fromId, count],
        }),
      }),

    /** The next `count` tokens of an ERC-2309 collection, with one `ConsecutiveTransfer`. */
    mintsConsecutive: (contract: Address, count: bigint) =>
      transact({
        to: contract,
        data: encodeFunctionData({
          abi: collectionAbi,
          functionName: "mintConsecutive",
          args: [address, count],
        }),
      }),

    /** Several ids of an ERC-1155 with one `TransferBatch`. */
    mintsEditions: ({ contract, tokenIds, units }: Editions) =>
      transact({
        to: contract,
        data: encodeFunctionData({
          abi: editionsAbi,
          functionName: "mintBatch",
          args: [address, tokenIds, tokenIds.map(() => units)],
        }),
      }),

    transfers: (nft: Nft, to: Holder, units = 1n) =>
      transact({ to: nft.contract, data: transferData(address, nft, to.address, units) }),

    transfersEditions: ({ contract, tokenIds, units }: Editions, to: Holder) =>
      transact({
        to: contract,
        data: encodeFunctionData({
          abi: erc1155Abi,
          functionName: "safeBatchTransferFrom",
          args: [address, to.address, tokenIds, tokenIds.map(() => units), "0x"],
        }),
      }),

    burns: (nft: Nft, units = 1n) =>
      transact({ to: nft.contract, data: burnData(address, nft, units) }),

    /** Approves the common conduit for the contract's tokens. */
    approves: (contract: Address) => approve(contract, true),
    revokes: (contract: Address) => approve(contract, false),
  };
}

function mintData(to: Address, { standard, tokenId }: Nft, units: bigint): Hex {
  return standard === "erc721"
    ? encodeFunctionData({ abi: collectionAbi, functionName: "mint", args: [to, tokenId] })
    : encodeFunctionData({ abi: editionsAbi, functionName: "mint", args: [to, tokenId, units] });
}

function transferData(from: Address, { standard, tokenId }: Nft, to: Address, units: bigint): Hex {
  return standard === "erc721"
    ? encodeFunctionData({
        abi: erc721Abi,
        functionName: "transferFrom",
        args: [from, to, tokenId],
      })
    : encodeFunctionData({
        abi: erc1155Abi,
        functionName: "safeTransferFrom",
        args: [from, to, tokenId, units, "0x"],
      });
}

function burnData(owner: Address, { standard, tokenId }: Nft, units: bigint): Hex {
  return standard === "erc721"
    ? encodeFunctionData({ abi: collectionAbi, functionName: "burn", args: [tokenId] })
    : encodeFunctionData({ abi: editionsAbi, functionName: "burn", args: [owner, tokenId, units] });
}
