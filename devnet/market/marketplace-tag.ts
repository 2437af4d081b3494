import { concatHex, type Hex } from "viem";
import { marketplaces } from "#projections/domain/marketplaces.ts";

/** Four bytes after the calldata that identify the marketplace of a fill; the exchange ignores them. */
export type Tag = Hex;

/** The tags that known marketplaces append. */
export const knownTags: readonly Tag[] = marketplaces.flatMap(({ calldataTags }) => calldataTags);

export function tagCalldata(data: Hex, tag: Tag | undefined): Hex {
  return tag === undefined ? data : concatHex([data, tag]);
}
