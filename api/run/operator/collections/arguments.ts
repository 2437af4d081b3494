import { InvalidArgumentError } from "commander";
import type { Address } from "viem";
import { chainIds } from "#chains/index.ts";

/** A collection by its slug, or by an address in lower case. */
export type Named = { chainId: number; named: string };
export type Contract = { chainId: number; address: Address };

export function parseChain(text: string): number {
  const chain = chainIds.find((one) => `${one}` === text);
  if (chain !== undefined) return chain;
  throw new InvalidArgumentError(`unknown chain: expected ${chainIds.join(" or ")}`);
}

export function parseNamed(text: string): Named {
  const [, chain = "", named = ""] = /^([^:]*):(.*)$/.exec(text) ?? [];
  const chainId = parseChain(chain);
  const lower = named.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(lower)) return { chainId, named: lower };
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(named)) return { chainId, named };
  throw new InvalidArgumentError("expected chain:slug or chain:address");
}

export function parseContract(text: string): Contract {
  const { chainId, named } = parseNamed(text);
  if (/^0x[0-9a-f]{40}$/.test(named)) return { chainId, address: named as Address };
  throw new InvalidArgumentError("expected chain:address, the address 0x and 40 hex digits");
}

export function parseContracts(text: string, before: Contract[] | undefined): Contract[] {
  return [...(before ?? []), parseContract(text)];
}

export function parseSlug(text: string): string {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 100 && !/^0x/.test(text)) return text;
  throw new InvalidArgumentError("expected lower-case words separated by -, not an address");
}

export function parseName(text: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= 200) return name;
  throw new InvalidArgumentError("expected 1 to 200 characters");
}
