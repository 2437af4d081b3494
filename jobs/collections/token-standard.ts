import { type Address, encodeFunctionData, type Hex, hexToBytes, numberToHex } from "viem";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import type { LoggedToken } from "#projections/collections/read-undescribed-contracts.ts";
import type { ContractResult } from "../chain/contract-calls.ts";

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
export function detectStandard(
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

/** Whether a contract that answers `standardCalls` so claims to be an ERC-721, and is no coin. */
export function isClaimedErc721([is721, is1155, ...coin]: readonly ContractResult[]): boolean {
  const [claims721, claims1155] = [is721, is1155].map((one) => parseContractFlag(one ?? "0x"));
  return claims721 === true && !claims1155 && !looksLikeCoin(coin);
}

/** `totalSupply()`, and who owns the first tokens. */
export const tokenCalls: readonly Hex[] = [
  "0x18160ddd",
  ...[0n, 1n].map((id) =>
    encodeFunctionData({ abi: erc721Abi, functionName: "ownerOf", args: [id] }),
  ),
];

/** Whether a contract that answers `tokenCalls` so has tokens. */
export const hasTokens = (answers: readonly ContractResult[]): boolean =>
  answers.some((answer) => /^0x[0-9a-f]{64}$/i.test(answer ?? "") && BigInt(answer ?? 0) > 0n);

const wordOf = (address: Address) => `0x${"0".repeat(24)}${address.slice(2).toLowerCase()}`;

/** Maximum characters of a contract's text. */
const textLength = 256;
const wordBytes = 32;

/**
 * A `string` (or, in old contracts, a `bytes32`) returned by a contract, sanitized: at most 256 characters, without
 * control characters, invalid bytes replaced. Null if nothing remains.
 */
export function parseContractText(returned: Hex): string | null {
  const text = decode(textBytes(hexToBytes(returned.length % 2 === 0 ? returned : "0x")));
  return text === "" ? null : text;
}

function textBytes(returned: Uint8Array): Uint8Array {
  if (returned.length === wordBytes) return returned;
  const offset = wordAt(returned, 0);
  if (offset === undefined || offset > returned.length - wordBytes) return new Uint8Array();
  const length = wordAt(returned, offset);
  if (length === undefined) return new Uint8Array();
  const start = offset + wordBytes;
  return returned.subarray(start, Math.min(start + length, returned.length));
}

/** A word as a number, if it is small enough for an offset. */
function wordAt(bytes: Uint8Array, start: number): number | undefined {
  const word = bytes.subarray(start, start + wordBytes);
  if (word.length < wordBytes || word.subarray(0, 26).some((byte) => byte !== 0)) return undefined;
  return word.subarray(26).reduce((value, byte) => value * 256 + byte, 0);
}

/**
 * What is not shown, by which a name differs from the one that it imitates: default-ignorable characters and marks of
 * direction, but for joiners and variants of emoji.
 */
const ignorable =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|(?<!\p{Extended_Pictographic})\ufe0f|(?![\u200d\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

function decode(bytes: Uint8Array): string {
  // At most four bytes per character; the rest allows for trimmed leading whitespace.
  const kept = new TextDecoder().decode(bytes.subarray(0, textLength * 16));
  const printable = kept
    .replaceAll(/\p{Cc}+/gu, " ")
    .replaceAll(ignorable, "")
    .trim();
  return [...printable].slice(0, textLength).join("").trim();
}

/** Whether a contract returned exactly ABI-encoded `true`. */
export function parseContractFlag(returned: Hex): boolean {
  return returned === `0x${"0".repeat(63)}1`;
}
