import { type Address, concatHex, type Hex, size, slice, toHex, zeroAddress } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import {
  hasReturned,
  type OutcomeLookup,
  type QueryByKind,
  type QueryCodec,
  singleCallCodec,
  wordOf,
} from "./chain-query.ts";
import {
  addressInWord,
  type ChainCall,
  type ChainCallOutcome,
  type ContractCall,
  encodeCall,
  type ReadBasis,
} from "./contract-calls.ts";

/*
 * A contract that reverts or returns malformed data counts as: no owner, not approved, balance 0. Unknown is only a missing
 * result from the node, and a call that used up its gas: an honest contract may need more for some of its ids.
 */

export const ownerCodec = singleCallCodec<"owner_read">(
  ({ contract, tokenId }) => ({
    to: contract,
    data: encodeCall({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] }),
  }),
  (query, outcome) => ({ ...query, owner: addressInWord(wordOf(outcome)) }),
);

export const unitsCodec = singleCallCodec<"units_read">(
  ({ contract, tokenId, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc1155Abi,
      functionName: "balanceOf",
      args: [owner, tokenId],
    }),
  }),
  (query, outcome) => ({ ...query, units: wordOf(outcome) ?? 0n }),
);

/** Approval of the common conduit for all tokens of a contract. */
export const approvalCodec = singleCallCodec<"approval_read">(
  ({ contract, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc721Abi,
      functionName: "isApprovedForAll",
      args: [owner, commonConduit.address],
    }),
  }),
  (query, outcome) => ({ ...query, approved: wordOf(outcome) === 1n }),
);

/** Approval of the common conduit for an ERC-721 token alone. */
export const tokenApprovalCodec = singleCallCodec<"token_approval_read">(
  ({ contract, tokenId }) => ({
    to: contract,
    data: encodeCall({ abi: erc721Abi, functionName: "getApproved", args: [tokenId] }),
  }),
  (query, outcome) => ({
    ...query,
    approved: addressInWord(wordOf(outcome)) === commonConduit.address,
  }),
);

export const balanceCodec = singleCallCodec<"balance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
  }),
  (query, outcome) => ({ ...query, wei: wordOf(outcome) ?? 0n }),
);

/** Allowance of the exchange itself, through which bids are paid. */
export const allowanceCodec = singleCallCodec<"allowance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({
      abi: erc20Abi,
      functionName: "allowance",
      args: [owner, seaportAddresses["1.6"]],
    }),
  }),
  (query, outcome) => ({ ...query, wei: wordOf(outcome) ?? 0n }),
);

type TransferQuestion = QueryByKind["transfer_read"];

/**
 * Whether the conduit may transfer a token, to an unknown recipient unless one is given, by two simulations: a call from
 * the conduit, and one through code in the conduit's place, whose transaction has another sender, as a purchase has. The
 * collection, or the transfer validator that it asks, may decide by the conduit's code or by the transaction's sender.
 * Conclusive only if both have one result, and the owner holds the token and has approved the conduit. A transfer that
 * moves nothing is none: the second simulation asks who has the token after it.
 */
export const transferCodec: QueryCodec<"transfer_read"> = {
  encode: (query, basis) => [
    ...simulationsOf(query, basis),
    forwardedToExchange,
    ...approvalCodec.encode(approvalOf(query), basis),
    ...(query.standard === "erc721" ? tokenApprovalCodec.encode(tokenOf(query), basis) : []),
    ...holdingCalls(query, basis),
  ],
  decode(query, lookUp, basis) {
    const { kind, contract, tokenId, owner } = query;
    // A node may ignore code that it is given for a call.
    if (!canDecide(query, lookUp, basis) || !hasReturned(lookUp(forwardedToExchange)))
      return undefined;
    const outcomes = simulationsOf(query, basis).map(lookUp);
    const [returned, other] = outcomes.map(hasReturned);
    if (returned === undefined || other !== returned) return undefined;
    const allowed = returned && hasMoved(query, outcomes[1], basis);
    return { kind, contract, tokenId, owner, allowed };
  },
};

function canDecide(query: TransferQuestion, lookUp: OutcomeLookup, basis: ReadBasis): boolean {
  const approval = approvalCodec.decode(approvalOf(query), lookUp, basis);
  const isApproved =
    approval?.approved ||
    (query.standard === "erc721" &&
      tokenApprovalCodec.decode(tokenOf(query), lookUp, basis)?.approved);
  return isApproved === true && isHeld(query, lookUp, basis);
}

function isHeld(query: TransferQuestion, lookUp: OutcomeLookup, basis: ReadBasis): boolean {
  if (query.standard === "erc721") {
    const read = ownerCodec.decode(ownerOf(query), lookUp, basis);
    return read?.owner === query.owner;
  }
  const read = unitsCodec.decode(unitsOf(query), lookUp, basis);
  return read !== undefined && read.units > 0n;
}

const holdingCalls = (query: TransferQuestion, basis: ReadBasis): ChainCall[] =>
  query.standard === "erc721"
    ? ownerCodec.encode(ownerOf(query), basis)
    : unitsCodec.encode(unitsOf(query), basis);

const approvalOf = ({ contract, owner }: TransferQuestion) =>
  ({ kind: "approval_read", contract, owner }) as const;
const tokenOf = ({ contract, tokenId }: TransferQuestion) =>
  ({ kind: "token_approval_read", contract, tokenId }) as const;
const ownerOf = ({ contract, tokenId }: TransferQuestion) =>
  ({ kind: "owner_read", contract, tokenId }) as const;
const unitsOf = ({ contract, tokenId, owner }: TransferQuestion) =>
  ({ kind: "units_read", contract, tokenId, owner }) as const;

/** An address without code or owner that no allow list can contain: derived from the block's hash. */
const unknownRecipient = ({ hash }: ReadBasis): Address => slice(hash, 12);

const recipientOf = (query: TransferQuestion, basis: ReadBasis): Address =>
  query.to ?? unknownRecipient(basis);

function transferCall(query: TransferQuestion, basis: ReadBasis) {
  const { contract, owner, tokenId, standard } = query;
  const to = recipientOf(query, basis);
  const data =
    standard === "erc721"
      ? encodeCall({
          abi: erc721Abi,
          functionName: "transferFrom",
          args: [owner, to, tokenId],
        })
      : encodeCall({
          abi: erc1155Abi,
          functionName: "safeTransferFrom",
          args: [owner, to, tokenId, 1n, "0x"],
        });
  return { to: contract, from: commonConduit.address, data } satisfies ChainCall;
}

/** Who has the token, as the recipient's: its owner, or the units that the recipient has. */
function holderCall(query: TransferQuestion, basis: ReadBasis): Hex {
  const { tokenId, standard } = query;
  return standard === "erc721"
    ? encodeCall({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] })
    : encodeCall({
        abi: erc1155Abi,
        functionName: "balanceOf",
        args: [recipientOf(query, basis), tokenId],
      });
}

function hasMoved(query: TransferQuestion, outcome: ChainCallOutcome, basis: ReadBasis): boolean {
  const word = wordOf(outcome);
  if (word === undefined) return false;
  return query.standard === "erc721" ? word === BigInt(recipientOf(query, basis)) : word > 0n;
}

/** The second is sent by the buyer, who receives the token, or by the owner, who sells it to a given recipient. */
function simulationsOf(query: TransferQuestion, basis: ReadBasis): ChainCall[] {
  const transfer = transferCall(query, basis);
  const sender = query.to === undefined ? unknownRecipient(basis) : query.owner;
  const moved = forwarded(transfer, holderCall(query, basis));
  return [transfer, { ...moved, from: sender, payer: query.contract }];
}

/**
 * Calls the address of the first 20 bytes with the data whose length the next word is, and reverts as that does; then
 * with the rest, and returns what that does.
 */
const forwardingCode: Hex = concatHex([
  "0x60143580603460003760006000826000600060003560601c5af115604557",
  "0x60340180360380826000376000600082600060006000",
  "0x3560601c5af1503d600060003e3d6000f35b3d600060003e3d6000fd",
]);

const forwarded = ({ to, data }: ContractCall, then: Hex) => ({
  to: commonConduit.address,
  data: concatHex([to, toHex(size(data), { size: 32 }), data, then]),
  code: forwardingCode,
});

/** Returns on a node that uses the code: the conduit's own has no such function. */
const forwardedToExchange: ChainCall = {
  ...forwarded(
    {
      to: seaportAddresses["1.6"],
      data: encodeCall({ abi: seaportFunctions, functionName: "getCounter", args: [zeroAddress] }),
    },
    "0x",
  ),
  payer: seaportAddresses["1.6"],
};
