import { concatHex, type Hex, keccak256, slice, stringToHex } from "viem";

/** Four bytes after the calldata that name the marketplace a fill came through; the exchange ignores them. */
const marketplaceTags = {
  native: slice(keccak256(stringToHex("mkt")), 0, 4),
  opensea: slice(keccak256(stringToHex("opensea.io")), 0, 4),
} as const;

export type Marketplace = keyof typeof marketplaceTags;

export function tagCalldata(data: Hex, marketplace: Marketplace | undefined): Hex {
  return marketplace === undefined ? data : concatHex([data, marketplaceTags[marketplace]]);
}
