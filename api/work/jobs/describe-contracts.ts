import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import { erc721Abi } from "../../../abis/tokens.ts";
import type { Database } from "../../../projections/database.ts";
import { appendObservations, type Observation } from "../../../projections/log/append.ts";
import { readUndescribed } from "../../../projections/reads/collections/undescribed.ts";
import type { ChainClient } from "../chain/clients.ts";
import {
  type ContractAnswer,
  callContracts,
  fetchReadBasis,
  haveCode,
  type ReadBasis,
} from "../chain/contract-calls.ts";
import { parseContractFlag, parseContractText } from "../chain/contract-text.ts";

/** Where the describing of a chain stands. */
export type Progress = {
  /** The log's end after the last description was appended: what lacks one before that is not known yet. */
  head: bigint;
  /** Contracts that the node said nothing about, or that have no code. They are not asked again while in here. */
  readonly postponed: Set<Address>;
};

const contractsAtOnce = 20;

/**
 * Reads name, symbol and standard of every contract of the chain that lacks them, and appends what was read
 * batch by batch. Throws `RpcFailure` where the chain cannot be asked; what was appended before stands.
 */
export async function describeContracts(
  db: Database,
  client: ChainClient,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  let described = 0;
  let after: Address | null = null;
  while (!signal.aborted) {
    const found: Address[] = await readUndescribed(db, client.chainId, after, contractsAtOnce);
    after = found.at(-1) ?? null;
    if (after === null) break;
    const addresses = found.filter((address) => !progress.postponed.has(address));
    if (addresses.length > 0) described += await describeBatch(db, client, progress, addresses);
  }
  return described;
}

async function describeBatch(
  db: Database,
  client: ChainClient,
  progress: Progress,
  addresses: readonly Address[],
): Promise<number> {
  const facts = await observe(client, addresses);
  const told = new Set(facts.map(({ contract }) => contract));
  for (const address of addresses) if (!told.has(address)) progress.postponed.add(address);
  if (facts.length > 0) progress.head = (await appendObservations(db, facts)).head;
  return facts.length;
}

const questions: readonly Hex[] = [
  encodeFunctionData({ abi: erc721Abi, functionName: "name" }),
  encodeFunctionData({ abi: erc721Abi, functionName: "symbol" }),
  encodeFunctionData({ abi: erc721Abi, functionName: "supportsInterface", args: ["0x80ac58cd"] }),
  encodeFunctionData({ abi: erc721Abi, functionName: "supportsInterface", args: ["0xd9b67a26"] }),
];

async function observe(client: ChainClient, addresses: readonly Address[]): Promise<Observation[]> {
  const basis = await fetchReadBasis(client);
  const calls = addresses.flatMap((to) => questions.map((data) => ({ to, data })));
  const answers = await callContracts(client, basis, calls);
  const heard = addresses.map((address, index) => ({
    address,
    said: answers.slice(index * questions.length, (index + 1) * questions.length),
  }));
  const silent = heard.filter(({ said }) => said.every((answer) => !answer || answer === "0x"));
  const absent = await withoutCode(
    client,
    basis,
    silent.map(({ address }) => address),
  );
  return heard
    .filter(({ address, said }) => !said.includes(undefined) && !absent.has(address))
    .map(({ address, said }) => describe(client.chainId, basis, address, said));
}

/** Contracts not deployed yet, gone, or of which the node does not say. */
async function withoutCode(
  client: ChainClient,
  basis: ReadBasis,
  addresses: readonly Address[],
): Promise<Set<Address>> {
  if (addresses.length === 0) return new Set();
  const codes = await haveCode(client, basis, addresses);
  return new Set(addresses.filter((_, index) => codes[index] !== true));
}

function describe(
  chainId: number,
  { number, hash, timestamp }: ReadBasis,
  contract: Address,
  [name, symbol, is721, is1155]: readonly ContractAnswer[],
): Observation {
  return {
    kind: "contract_described",
    chainId,
    contract,
    identity: keccak256(
      stringToHex(JSON.stringify(["contract_described", chainId, contract, hash])),
    ),
    recordedAt: new Date(),
    basis: { number, hash, timestamp },
    payload: {
      name: parseContractText(name ?? "0x"),
      symbol: parseContractText(symbol ?? "0x"),
      standard: standardOf(parseContractFlag(is721 ?? "0x"), parseContractFlag(is1155 ?? "0x")),
    },
  };
}

/** A contract that claims both standards says nothing. */
function standardOf(is721: boolean, is1155: boolean): "erc721" | "erc1155" | null {
  if (is721 === is1155) return null;
  return is721 ? "erc721" : "erc1155";
}
