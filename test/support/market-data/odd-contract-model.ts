import { type Address, type Hex, hexToBigInt, size, slice, zeroAddress } from "viem";
import { type OddContract, topic } from "./odd-contracts.ts";

/** A log as a node gives it. */
export type RawLog = { topics: readonly Hex[]; data: Hex };

/** Empty where `last` is below `first`: such an event names a contract, and moves nothing. */
type Move = { first: bigint; last: bigint; from: Address; to: Address; units: bigint | null };

export type ModelToken = {
  /** Ids with one history: all of `first` to `last`. */
  readonly first: bigint;
  readonly last: bigint;
  readonly standard: "erc721" | "erc1155";
  /** Units by holder, burn addresses left out. */
  readonly held: ReadonlyMap<Address, bigint>;
  readonly isBurned: boolean;
};

const dead: Address = "0x000000000000000000000000000000000000dead";
const isBurnAddress = (address: Address) => address === zeroAddress || address === dead;

/** What the logs of one contract prove, by reading their bytes and moving one unit after the other. */
export function modelOf(logs: readonly RawLog[]): ModelToken[] {
  const moves = logs.flatMap(movesOf).filter(({ first, last }) => first <= last);
  const bounds = [...new Set(moves.flatMap(({ first, last }) => [first, last + 1n]))].toSorted(
    (one, other) => (one < other ? -1 : 1),
  );
  return bounds.flatMap((first, index) => {
    const after = bounds[index + 1];
    const concerned = moves.filter((move) => move.first <= first && first <= move.last);
    if (after === undefined || concerned.length === 0) return [];
    return [{ first, last: after - 1n, ...heldAfter(concerned) }];
  });
}

/** An id that ERC-1155 events move is theirs alone. */
function heldAfter(moves: readonly Move[]): Omit<ModelToken, "first" | "last"> {
  const counted = moves.filter(({ units }) => units !== null);
  if (counted.length > 0) return { standard: "erc1155", ...unitsAfter(counted) };
  const owner = moves.at(-1)?.to ?? zeroAddress;
  const isBurned = isBurnAddress(owner);
  return { standard: "erc721", held: new Map(isBurned ? [] : [[owner, 1n]]), isBurned };
}

function unitsAfter(moves: readonly Move[]): Pick<ModelToken, "held" | "isBurned"> {
  const balances = new Map<Address, bigint>();
  let burned = 0n;
  for (const { from, to, units } of moves) {
    const amount = units ?? 0n;
    const held = balances.get(from) ?? 0n;
    // Who sends more than was ever received has had it without an event.
    balances.set(from, held > amount ? held - amount : 0n);
    balances.set(to, (balances.get(to) ?? 0n) + amount);
    if (isBurnAddress(to)) burned += amount;
  }
  const held = new Map([...balances].filter(([of, units]) => units > 0n && !isBurnAddress(of)));
  return { held, isBurned: held.size === 0 && burned > 0n };
}

function movesOf({ topics, data }: RawLog): Move[] {
  const [name, second, third, fourth] = topics;
  if (second === undefined || third === undefined || fourth === undefined) return [];
  if (name === topic.transfer) return [moveOf(hexToBigInt(fourth), second, third, null)];
  if (name === topic.range) return rangeOf(moveOf(hexToBigInt(second), third, fourth, null), data);
  if (name === topic.single)
    return unitsMoved([wordAt(data, 0n)], [wordAt(data, 32n)], third, fourth);
  if (name === topic.batch) return unitsMoved(listAt(data, 0n), listAt(data, 32n), third, fourth);
  return [];
}

const moveOf = (id: bigint, from: Hex, to: Hex, units: bigint | null): Move => ({
  ...{ first: id, last: id, units },
  ...{ from: addressIn(from), to: addressIn(to) },
});

function rangeOf(move: Move, data: Hex): Move[] {
  const last = wordAt(data, 0n);
  return last === null ? [] : [{ ...move, last }];
}

type Words = readonly (bigint | null)[] | null;

function unitsMoved(ids: Words, amounts: Words, from: Hex, to: Hex): Move[] {
  return (ids ?? []).flatMap((id, index) => {
    const units = amounts?.[index] ?? null;
    return id === null || units === null ? [] : [moveOf(id, from, to, units)];
  });
}

const addressIn = (word: Hex): Address => slice(word, 12).toLowerCase() as Address;

function wordAt(data: Hex, offset: bigint): bigint | null {
  const end = offset + 32n;
  return end > BigInt(size(data)) ? null : hexToBigInt(slice(data, Number(offset), Number(end)));
}

/** A `uint256[]` whose place stands in the word at `offset`; null: it is not whole. */
function listAt(data: Hex, offset: bigint): bigint[] | null {
  const place = wordAt(data, offset);
  const length = place === null ? null : wordAt(data, place);
  if (place === null || length === null || length > BigInt(size(data)) / 32n) return null;
  const words = Array.from({ length: Number(length) }, (_, index) =>
    wordAt(data, place + 32n * BigInt(index + 1)),
  );
  return words.every((word) => word !== null) ? words : null;
}

/** Of the last twenty moves the newest of three ids that ERC-721 events name: those whose owner a contract is asked for. */
function newestOwners(logs: readonly RawLog[]): Address[] {
  const newest = logs.flatMap(movesOf).toReversed().slice(0, 20);
  const owners = new Map<bigint, Address>();
  for (const { first, to, units } of newest)
    if (units === null && !owners.has(first)) owners.set(first, to);
  return [...owners.values()].filter((owner) => !isBurnAddress(owner)).slice(0, 3);
}

/** Whether a contract's answers tell that it is a coin, or nothing of tokens. */
export function isCoin(contract: OddContract, logs: readonly RawLog[]): boolean {
  const { claims721, claims1155, answersAsCoin, statedOwner } = contract;
  if (contract.answers === null || claims1155) return false;
  const owners = newestOwners(logs);
  if (statedOwner !== null && owners.includes(statedOwner)) return false;
  if (answersAsCoin) return true;
  return !claims721 && owners.length > 0 && statedOwner === null;
}

/** Whether any log is one of each standard. */
export function standardsMoved(logs: readonly RawLog[]): { moved721: boolean; moved1155: boolean } {
  const moves = logs.flatMap(movesOf);
  return {
    moved721: moves.some(({ units }) => units === null),
    moved1155: moves.some(({ units }) => units !== null),
  };
}
