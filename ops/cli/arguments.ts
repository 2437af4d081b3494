import { type Command, InvalidArgumentError } from "commander";
import { type Address, isAddress } from "viem";
import { chainIds } from "#chains/index.ts";
import type { Projection } from "#projections/engine/projection.ts";
import type { ChainConfig, Config } from "../config/config.ts";
import { ConfigurationError } from "../config/read-config.ts";
import type { NamedBlock } from "../reports/verify-at.ts";

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

export function parseNamedBlock(text: string): NamedBlock {
  const [, chain = "", block] = /^([^:]*):(\d{1,18})$/.exec(text) ?? [];
  if (block !== undefined) return { chainId: parseChain(chain), block: BigInt(block) };
  throw new InvalidArgumentError("expected chain:block, the block a number");
}

export function parseContract(text: string): Contract {
  const { chainId, named } = parseNamed(text);
  if (/^0x[0-9a-f]{40}$/.test(named)) return { chainId, address: named as Address };
  throw new InvalidArgumentError("expected chain:address, the address 0x and 40 hex digits");
}

export function parseContracts(text: string, before: Contract[] | undefined): Contract[] {
  return [...(before ?? []), parseContract(text)];
}

export function parseAddress(text: string): Address {
  if (isAddress(text, { strict: false })) return text.toLowerCase() as Address;
  throw new InvalidArgumentError("expected an address");
}

export function parseBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a block number");
  return Number(text);
}

export function parseSlug(text: string): string {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 100 && !/^0x/.test(text)) return text;
  throw new InvalidArgumentError("expected lower-case words separated by -, not an address");
}

export function parseCollectionName(text: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= 200) return name;
  throw new InvalidArgumentError("expected 1 to 200 characters");
}

/** The chain that a command names. It must be configured and have an RPC. */
export function chosenChain({ chains }: Config, chainId: string): ChainConfig {
  const chain = chains.find((one) => String(one.chainId) === chainId);
  if (chain === undefined) {
    const served = chains.map((one) => one.chainId).join(" and ");
    throw new ConfigurationError([`--chain: expected a configured chain: ${served}`]);
  }
  if (chain.rpcUrls.length > 0) return chain;
  throw new ConfigurationError([
    `RPC_URL_${chainId}: required, unless \`npm start\` runs in the same DATA_DIR. ` +
      `Example: RPC_URL_${chainId}=https://rpc.example.com/key`,
  ]);
}

/** The given names, or all. An unknown name is a usage error. */
export function chooseProjections(
  command: Command,
  projections: readonly Projection[],
  names: readonly string[],
): string[] {
  const known = projections.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    command.error(`unknown projection ${unknown.join(", ")}; there are ${known.join(", ")}`, {
      exitCode: 2,
    });
  }
  return names.length === 0 ? known : [...names];
}
