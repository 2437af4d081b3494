import { type Address, encodeFunctionData, type Hex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { orderParameters } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { accounts } from "../accounts.ts";
import { contracts } from "../contracts/addresses.ts";
import { bidding, selling } from "./selling.ts";
import {
  accountSigner,
  collectionAbi,
  editionsAbi,
  type MarketContext,
  type Signer,
  walletSigner,
} from "./signer.ts";

/** All actors of a chain. `wallet` is a contract that signs with alice's key (EIP-1271). */
export function createActors(market: MarketContext) {
  const createActor = (signer: Signer) => ({
    ...signer,
    ...holdings(signer),
    ...wrappedCurrency(market, signer),
    ...selling(market, signer),
    ...bidding(market, signer),
    ...orderManagement(signer),
  });
  const alice = accountSigner(market, accounts.alice);
  return {
    alice: createActor(alice),
    bob: createActor(accountSigner(market, accounts.bob)),
    carol: createActor(accountSigner(market, accounts.carol)),
    dave: createActor(accountSigner(market, accounts.dave)),
    erin: createActor(accountSigner(market, accounts.erin)),
    frank: createActor(accountSigner(market, accounts.frank)),
    grace: createActor(accountSigner(market, accounts.grace)),
    wallet: createActor(walletSigner(contracts.smartWallet, alice)),
  };
}

export type Actors = ReturnType<typeof createActors>;
export type Actor = Actors["alice"];

/** A short sequence of transactions after which any other scenario can still run. */
export type Scenario = (market: MarketContext, actors: Actors) => Promise<void>;

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

/** Wrapping, sending and allowing the wrapped native currency that bids are paid in. */
export function wrappedCurrency({ chainId, client }: MarketContext, { address, transact }: Signer) {
  const currency = wrappedNative[chainId];
  const approve = (wei: bigint) =>
    transact({
      to: currency,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "approve",
        args: [seaportAddresses["1.6"], wei],
      }),
    });
  return {
    wraps: (wei: bigint) =>
      transact({
        to: currency,
        value: wei,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" }),
      }),

    unwraps: (wei: bigint) =>
      transact({
        to: currency,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "withdraw", args: [wei] }),
      }),

    sendsWrapped: (to: { address: Address }, wei: bigint) =>
      transact({
        to: currency,
        data: encodeFunctionData({
          abi: wrappedNativeAbi,
          functionName: "transfer",
          args: [to.address, wei],
        }),
      }),

    /** Sets the exchange's allowance to exactly this amount. */
    allows: approve,

    /** Raises the exchange's allowance: what other bids need stays. */
    allowsMore: async (wei: bigint) => {
      const allowed = await client.readContract({
        address: currency,
        abi: erc20Abi,
        functionName: "allowance",
        args: [address, seaportAddresses["1.6"]],
      });
      return approve(allowed + wei);
    },
  };
}

/** Transactions that makers send to the exchange about their own orders. */
export function orderManagement(signer: Signer) {
  const exchange = seaportAddresses["1.6"];
  return {
    cancels: (...orders: SignedOrder[]) =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "cancel",
          args: [orders.map(({ components }) => components)],
        }),
      }),

    /** Cancels every order signed so far. */
    incrementsCounter: () =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({ abi: seaportFunctions, functionName: "incrementCounter" }),
      }),

    /** Stores the signature's validity on chain before the fill. */
    validates: ({ components, signature }: SignedOrder) =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "validate",
          args: [[{ parameters: orderParameters(components), signature }]],
        }),
      }),
  };
}
