import { type Address, slice } from "viem";
import { commonConduit } from "../../../abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "../../../abis/tokens.ts";
import { creatorTokenAbi, transferValidatorAbi } from "./probe-abis.ts";
import type { CallOutcome, ChainCall } from "./call-batch.ts";
import type { ReadBasis } from "./contract-calls.ts";
import { encodeCall } from "./encode-call.ts";
import type { Questions } from "./chain-query.ts";
import { type LookUp, type Reader, wordOf } from "./query-kind.ts";
import { approvalReader, ownerReader, unitsReader } from "./token-queries.ts";
import { addressOf } from "./abi-words.ts";

type TransferQuestion = Questions["transfer_read"];

/**
 * Whether the conduit may move a token, by a simulated transfer to somebody who cannot be known. Decides only where
 * the owner has the token and has approved the conduit, else the contract refuses for that; and only where the
 * collection's transfer validator, if it names one, is of the same mind: it may let others move what it forbids here.
 */
export const transferReader: Reader<"transfer_read"> = {
  calls: (question, basis) => [
    transferCall(question, basis),
    validatorCall(question.contract),
    ...approvalReader.calls(approvalOf(question), basis),
    ...holdingCalls(question, basis),
  ],
  followUp(question, lookUp, basis) {
    const validator = addressOf(wordOf(lookUp(validatorCall(question.contract))));
    return validator === null ? [] : [validationCall(question, validator, basis)];
  },
  read(question, lookUp, basis) {
    const { kind, contract, tokenId, owner } = question;
    if (!isMovable(question, lookUp, basis)) return undefined;
    const allowed = passes(lookUp(transferCall(question, basis)));
    const named = lookUp(validatorCall(contract));
    if (allowed === undefined || named === undefined) return undefined;
    const validator = addressOf(wordOf(named));
    const agrees =
      validator === null || agreesWith(allowed, lookUp(validationCall(question, validator, basis)));
    return agrees ? { kind, contract, tokenId, owner, allowed } : undefined;
  },
};

function passes(outcome: CallOutcome): boolean | undefined {
  return outcome === undefined ? undefined : "returned" in outcome;
}

/** A validator that refuses without a word knows no such question, and decides nothing. */
function agreesWith(allowed: boolean, outcome: CallOutcome): boolean {
  if (outcome !== undefined && "refused" in outcome && outcome.refused === "0x") return true;
  return passes(outcome) === allowed;
}

function isMovable(question: TransferQuestion, lookUp: LookUp, basis: ReadBasis): boolean {
  const approval = approvalReader.read(approvalOf(question), lookUp, basis);
  return approval?.approved === true && isHeld(question, lookUp, basis);
}

function isHeld(question: TransferQuestion, lookUp: LookUp, basis: ReadBasis): boolean {
  if (question.standard === "erc721") {
    const read = ownerReader.read(ownerOf(question), lookUp, basis);
    return read?.owner === question.owner;
  }
  const read = unitsReader.read(unitsOf(question), lookUp, basis);
  return read !== undefined && read.units > 0n;
}

const holdingCalls = (question: TransferQuestion, basis: ReadBasis): ChainCall[] =>
  question.standard === "erc721"
    ? ownerReader.calls(ownerOf(question), basis)
    : unitsReader.calls(unitsOf(question), basis);

const approvalOf = ({ contract, owner }: TransferQuestion) =>
  ({ kind: "approval_read", contract, owner }) as const;
const ownerOf = ({ contract, tokenId }: TransferQuestion) =>
  ({ kind: "owner_read", contract, tokenId }) as const;
const unitsOf = ({ contract, tokenId, owner }: TransferQuestion) =>
  ({ kind: "units_read", contract, tokenId, owner }) as const;

/** An address without code that nobody holds and no list can hold: another one in each block. */
const stranger = ({ hash }: ReadBasis): Address => slice(hash, 12);

function transferCall(question: TransferQuestion, basis: ReadBasis): ChainCall {
  const { contract, owner, tokenId, standard } = question;
  const to = stranger(basis);
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
  isMostlyRefused: true,
});

/** Validators look up the rules of the collection that calls them. */
function validationCall(
  { contract, owner, tokenId, standard }: TransferQuestion,
  validator: Address,
  basis: ReadBasis,
): ChainCall {
  const [operator, to] = [commonConduit.address, stranger(basis)];
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
  return { to: validator, from: contract, data };
}
