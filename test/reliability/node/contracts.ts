import { encodeAbiParameters, type Hex, parseAbiParameters, toFunctionSelector } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { collection } from "../chain/contents.ts";

/** What the collection says of itself; null: the call returns no data. */
export type Description = { readonly name: string | null; readonly symbol: string | null };

export const usualDescription: Description = { name: "Reliable", symbol: "REL" };

const texts = parseAbiParameters("string");
const yes: Hex = `0x${"1".padStart(64, "0")}`;
const no: Hex = `0x${"0".padStart(64, "0")}`;
const selectors = {
  name: toFunctionSelector("name()"),
  symbol: toFunctionSelector("symbol()"),
  supportsInterface: toFunctionSelector("supportsInterface(bytes4)"),
};

const encodeText = (text: string | null): Hex =>
  text === null ? "0x" : encodeAbiParameters(texts, [text]);

/** The result of `eth_call`; null: it reverts. Accounts without code return nothing. */
export function callContract(to: string, data: string, { name, symbol }: Description): Hex | null {
  if (to.toLowerCase() !== collection) return codeAt(to) === "0x" ? "0x" : null;
  const selector = data.slice(0, 10);
  if (selector === selectors.name) return encodeText(name);
  if (selector === selectors.symbol) return encodeText(symbol);
  if (selector !== selectors.supportsInterface) return null;
  return /^0x01ffc9a7(01ffc9a7|80ac58cd)/.test(data) ? yes : no;
}

/** Multicall3 is not there: every call is made alone. */
export function codeAt(address: string): Hex {
  const contracts: readonly string[] = [collection, seaportAddresses["1.6"]];
  return contracts.includes(address.toLowerCase()) ? "0x6080604052" : "0x";
}
