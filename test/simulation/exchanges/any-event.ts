import type { AbiParameter } from "viem";
import { type ChainId, chainById } from "#chains/index.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import type { ExchangeSource } from "#projections/exchanges/model/exchange.ts";
import { addressOf } from "#test/support/database/given.ts";
import type { Random } from "../random.ts";
import type { Emitted } from "./emitted.ts";

/** Sources whose events have no kinds of their own in the log. */
export const sources: readonly ExchangeSource[] = exchanges
  .filter(({ factKinds }) => factKinds === undefined)
  .flatMap((exchange) => exchange.sources);

const eventsOn = (chainId: ChainId) =>
  sources
    .filter(({ deployed }) => deployed(chainById(chainId)) !== null)
    .flatMap(({ name: source, events }) => events.map((event) => ({ ...event, source })));
const eventsBy = { 1: eventsOn(1), 33139: eventsOn(33139) };

/** Any event of any exchange, with arguments that its types allow and nothing else makes likely. */
export function anyEvent(random: Random, chainId: number): Emitted {
  const { source, name, inputs } = random.pick(eventsBy[chainId === 1 ? 1 : 33139]);
  return { source, event: name, args: structOf(inputs, random) };
}

const structOf = (inputs: readonly AbiParameter[], random: Random) =>
  Object.fromEntries(inputs.map((input) => [input.name ?? "", argumentOf(input, random)]));

/** As the log stores them. */
function argumentOf(parameter: AbiParameter, random: Random): unknown {
  const [, item, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? [];
  if (item !== undefined) {
    const items = length ? Number(length) : random.int(0, 3);
    return Array.from({ length: items }, () => argumentOf({ ...parameter, type: item }, random));
  }
  if ("components" in parameter) return structOf(parameter.components, random);
  const [, type = "", size = "0"] = /^([a-z]+)(\d*)$/.exec(parameter.type) ?? [];
  return (valuesOf[type] ?? integer)(random, Number(size));
}

const valuesOf: Record<string, (random: Random, size: number) => unknown> = {
  address: (random) => addressOf(random.int(0, 99)),
  bool: (random) => random.chance(0.5),
  string: () => "name",
  bytes: (random, size) => `0x${"5a".repeat(size || random.int(0, 70))}`,
};

/** Of more than 48 bits in decimal text. */
function integer(random: Random, bits: number): string | number {
  const number = random.chance(0.1) ? 2n ** BigInt(bits) - 1n : BigInt(random.int(0, 9));
  return bits > 48 ? `${number}` : Number(number);
}
