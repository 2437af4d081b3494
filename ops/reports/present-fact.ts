import {
  isQuarantined,
  type QuarantineEntry,
  readQuarantine,
} from "#projections/engine/quarantine.ts";
import type { Database } from "#projections/log/database.ts";
import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import { type PlacedFact, readFactsAfter } from "#projections/log/facts.ts";

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

export type QuarantinedFact = { entry: QuarantineEntry; fact: PlacedFact | undefined };

/** Facts that a projection failed to apply and excludes. */
export async function readQuarantinedFacts(db: Database): Promise<QuarantinedFact[]> {
  const entries = (await readQuarantine(db)).filter(isQuarantined);
  const everything = { kinds: null, chainIds: null };
  return await Promise.all(
    entries.map(async (entry) => {
      const { fact } = entry;
      const [placed] = await readFactsAfter(db, { ...everything, after: fact - 1n }, fact, 1);
      return { entry, fact: placed };
    }),
  );
}

export function presentQuarantined({ entry, fact }: QuarantinedFact) {
  const { projection, error, recordedAt } = entry;
  return { projection, error, since: recordedAt.toISOString(), fact: fact && presentFact(fact) };
}

/** JSON in which bigints are decimal strings. */
export function stringify(content: unknown, indent?: number): string {
  return JSON.stringify(
    content,
    (_, value) => (typeof value === "bigint" ? `${value}` : value),
    indent,
  );
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
