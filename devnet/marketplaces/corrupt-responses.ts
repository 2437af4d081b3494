import type { Hex } from "viem";
import { type StoredListing, totalWei } from "./listing-store.ts";
import type { StandInRequest } from "./stand-in-server.ts";

/** Hash and whole price of a listing as they are, or as the faults want them. */
export function presentedTerms(
  shown: StoredListing,
  { wrong }: Pick<StandInRequest, "wrong">,
): { hash: Hex; wei: bigint } {
  const { orderHash } = shown;
  const lastDigit = orderHash.endsWith("0") ? "1" : "0";
  const wei = totalWei(shown.order);
  return {
    hash: wrong.includes("hash") ? `0x${orderHash.slice(2, -1)}${lastDigit}` : orderHash,
    wei: wrong.includes("price") ? wei / 2n : wei,
  };
}

/** Every second entry spoilt, each in its own way, when the answers are to be malformed. */
export function corruptPage<Entry extends object>(
  entries: readonly Entry[],
  { wrong }: StandInRequest,
) {
  if (!wrong.includes("malformed")) return entries;
  const ways: readonly ((entry: Entry) => unknown)[] = [
    () => null,
    (entry) => ({ ...entry, protocol_data: { parameters: { offerer: 7 } } }),
    (entry) => Object.fromEntries(Object.entries(entry).slice(1)),
    (entry) => ({ ...entry, protocol_address: "0xnothing", price: "free", rawData: [] }),
  ];
  return entries.map((entry, index) =>
    index % 2 === 0 ? ways[(index / 2) % ways.length]?.(entry) : entry,
  );
}
