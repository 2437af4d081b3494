import { type Address, slice } from "viem";
import { commonConduit } from "../../../abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "../../../abis/tokens.ts";
import { addressOf } from "./abi-words.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { QueryByKind } from "./chain-query.ts";
import type { ReadBasis } from "./contract-calls.ts";
import { encodeCall } from "./encode-call.ts";
import { creatorTokenAbi, transferValidatorAbi } from "./probe-abis.ts";
import { hasReturned, type OutcomeLookup, type QueryCodec, wordOf } from "./query-codec.ts";
import { approvalCodec, ownerCodec, unitsCodec } from "./token-queries.ts";

type TransferQuestion = QueryByKind["transfer_read"];

/**
 * Whether the conduit may transfer a token, by a simulated transfer to an unknown recipient, unless one is given. Conclusive only if the
 * owner holds the token and has approved the conduit, and if the collection's transfer validator, if any, agrees: it
 * may allow other senders what it forbids in the simulation.
 */
export const transferCodec: QueryCodec<"transfer_read"> = {
  encode: (query, basis) => [
    transferCall(query, basis),
    validatorCall(query.contract),
    ...approvalCodec.encode(approvalOf(query), basis),
    ...holdingCalls(query, basis),
  ],
  encodeFollowUp(query, lookUp, basis) {
    const validator = addressOf(wordOf(lookUp(validatorCall(query.contract))));
    return validator === null ? [] : [validationCall(query, validator, basis)];
  },
  decode(query, lookUp, basis) {
    const { kind, contract, tokenId, owner } = query;
    if (!canDecide(query, lookUp, basis)) return undefined;
    const allowed = hasReturned(lookUp(transferCall(query, basis)));
    const named = lookUp(validatorCall(contract));
    if (allowed === undefined || named === undefined) return undefined;
    const validator = addressOf(wordOf(named));
    const agrees =
      validator === null || agreesWith(allowed, lookUp(validationCall(query, validator, basis)));
    return agrees ? { kind, contract, tokenId, owner, allowed } : undefined;
  },
};

/** A validator that reverts without data does not implement the call: it is ignored. */
function agreesWith(allowed: boolean, outcome: CallOutcome): boolean {
  if (outcome !== undefined && "reverted" in outcome && outcome.reverted === "0x") return true;
  return hasReturned(outcome) === allowed;
}

function canDecide(query: TransferQuestion, lookUp: OutcomeLookup, basis: ReadBasis): boolean {
  const approval = approvalCodec.decode(approvalOf(query), lookUp, basis);
  return approval?.approved === true && isHeld(query, lookUp, basis);
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
const ownerOf = ({ contract, tokenId }: TransferQuestion) =>
  ({ kind: "owner_read", contract, tokenId }) as const;
const unitsOf = ({ contract, tokenId, owner }: TransferQuestion) =>
  ({ kind: "units_read", contract, tokenId, owner }) as const;

/** An address without code or owner that no allow list can contain: derived from the block's hash. */
const unknownRecipient = ({ hash }: ReadBasis): Address => slice(hash, 12);

const recipientOf = (query: TransferQuestion, basis: ReadBasis): Address =>
  query.to ?? unknownRecipient(basis);

function transferCall(query: TransferQuestion, basis: ReadBasis): ChainCall {
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
  return { to: contract, from: commonConduit.address, data };
}

const validatorCall = (contract: Address): ChainCall => ({
  to: contract,
  data: encodeCall({ abi: creatorTokenAbi, functionName: "getTransferValidator" }),
  usuallyReverts: true,
});

/** Called from the collection's address: validators apply the caller's rules. */
function validationCall(query: TransferQuestion, validator: Address, basis: ReadBasis): ChainCall {
  const { contract, owner, tokenId, standard } = query;
  const [operator, to] = [commonConduit.address, recipientOf(query, basis)];
  const data =
    standard === "erc721"
      ? encodeCall({
          abi: transferValidatorAbi,
          functionName: "validateTransfer",
          args: [operator, owner, to, tokenId],
        })
      : encodeCall({
          abi: transferValidatorAbi,
          functionName: "validateTransfer",
          args: [operator, owner, to, tokenId, 1n],
        });
  return { to: validator, from: contract, data, payer: contract };
}
