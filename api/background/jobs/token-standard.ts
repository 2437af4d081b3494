import { type Address, encodeFunctionData, type Hex, numberToHex } from "viem";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import type { LoggedToken } from "#projections/collections/read-undescribed-contracts.ts";
import type { ContractResult } from "#jobs/chain/contract-calls.ts";
import { parseContractFlag } from "../chain/contract-text.ts";

const [anybody, somebody] = [1, 2].map((one) => numberToHex(one, { size: 20 })) as [
  Address,
  Address,
];
const supports = (interfaceId: Hex) =>
  encodeFunctionData({ abi: erc721Abi, functionName: "supportsInterface", args: [interfaceId] });

/** What a contract is asked: ERC-165 for both standards, what only a coin answers, and who holds some tokens. */
export function standardCalls(tokens: readonly LoggedToken[]): Hex[] {
  return [
    supports("0x80ac58cd"),
    supports("0xd9b67a26"),
    ...coinCalls,
    ...tokens.map(({ tokenId }) =>
      encodeFunctionData({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] }),
    ),
  ];
}

/** `decimals()` and `allowance(address,address)`: no NFT needs them, every ERC-20 has one at least. */
const coinCalls: readonly Hex[] = [
  "0x313ce567",
  encodeFunctionData({ abi: erc20Abi, functionName: "allowance", args: [anybody, somebody] }),
];

/** Whether a contract answers one of `coinCalls` with a number. */
function looksLikeCoin(answers: readonly ContractResult[]): boolean {
  return answers.some((answer) => /^0x[0-9a-f]{64}$/i.test(answer ?? ""));
}

/**
 * The standard of a contract by its answers to `standardCalls`. An owner who is the one that the events say proves
 * ERC-721, whatever else is answered (ERC-404 is a coin as well). `erc20`: it answers as a coin does, or neither
 * ERC-165 nor the owner of any token that its events name. null: it claims both standards, or nothing is known.
 */
export function standardOf(
  [is721, is1155, decimals, allowance, ...owners]: readonly ContractResult[],
  tokens: readonly LoggedToken[],
): "erc721" | "erc1155" | "erc20" | null {
  const [claims721, claims1155] = [is721, is1155].map((one) => parseContractFlag(one ?? "0x"));
  const words = owners.map((word) => word?.toLowerCase());
  if (claims1155) return claims721 ? null : "erc1155";
  if (tokens.some(({ owner }, index) => words[index] === wordOf(owner))) return "erc721";
  if (looksLikeCoin([decimals, allowance])) return "erc20";
  if (claims721) return "erc721";
  const isSilent = words.every((word) => word === undefined || !/^0x0{24}[0-9a-f]{40}$/.test(word));
  return tokens.length > 0 && isSilent ? "erc20" : null;
}

/** Whether a contract that answers `standardCalls` so claims no standard, and is no coin: it may be older than ERC-721. */
export function hasOtherTransfers([is721, is1155, ...coin]: readonly ContractResult[]): boolean {
  const claims = [is721, is1155].some((one) => parseContractFlag(one ?? "0x"));
  return !claims && !looksLikeCoin(coin);
}

const wordOf = (address: Address) => `0x${"0".repeat(24)}${address.slice(2).toLowerCase()}`;
