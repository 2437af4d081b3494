import { type Hex, keccak256, stringToHex } from "viem";

/** Identity of a fact by what it states: Keccak-256 of the content as JSON. Equal content is one fact. */
export function contentIdentity(content: readonly unknown[]): Hex {
  return keccak256(stringToHex(JSON.stringify(content)));
}
