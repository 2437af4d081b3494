import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import type { PlacedFact } from "#projections/log/facts.ts";

const kindNames = new Map<number, string>(
  Object.entries(factKind).map(([name, number]) => [number, name]),
);

export const kindNameOf = (kind: number): string => kindNames.get(kind) ?? `kind ${kind}`;

export const isKind = (name: string): name is FactKind => Object.hasOwn(factKind, name);

/** A fact as machines read it. */
export function presentFact(fact: PlacedFact) {
  const { position, kind, block, tokenId, amount, droppedAt, ...rest } = fact;
  return {
    position: Number(position),
    kind: kindNameOf(kind),
    ...rest,
    block: block && {
      number: Number(block.number),
      hash: block.hash,
      timestamp: block.timestamp.toISOString(),
    },
    tokenId: tokenId?.toString() ?? null,
    amount: amount?.toString() ?? null,
    droppedAt: droppedAt === null ? null : Number(droppedAt),
  };
}

/** A fact on one line. */
export function lineOf(fact: PlacedFact): string {
  const { position, kind, chainId, block, logIndex, contract, tokenId, amount } = fact;
  const at = block === null ? fact.recordedAt?.toISOString() : `block ${block.number}`;
  return [
    `${position}`,
    ...(chainId === null ? [] : [`chain ${chainId}`]),
    at ?? "no block",
    ...(logIndex === null ? [] : [`log ${logIndex}${fact.subIndex ? `.${fact.subIndex}` : ""}`]),
    kindNameOf(kind),
    ...(contract === null ? [] : [contract]),
    ...(tokenId === null ? [] : [`id ${tokenId}`]),
    ...(amount === null ? [] : [`amount ${amount}`]),
    ...(fact.from === null ? [] : [`from ${fact.from}`]),
    ...(fact.to === null ? [] : [`to ${fact.to}`]),
    ...(fact.orderHash === null ? [] : [`order ${fact.orderHash}`]),
  ].join("  ");
}
