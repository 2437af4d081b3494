/** The attributes of a collection: values of types. Attributes and types are numbered from 0. */
export type AttributeTable = {
  /** Number of types. */
  readonly types: number;
  /** The type of each attribute. */
  readonly typeOf: readonly number[];
  /** Whether each attribute means `none`; such an attribute is not counted as a trait. */
  readonly isNone: readonly boolean[];
};

export type Rarity = {
  /** 1 is the rarest; equal tokens share a rank, and the next rank counts them all. */
  readonly rank: number;
  /** Information content over the collection's entropy; the mean is 1. */
  readonly score: number;
};

/** Relative difference below which scores are equal. */
const tolerance = 1e-9;

/**
 * Ranks a collection's tokens by the OpenRarity method. Each type is a distribution in which having no value is an
 * outcome, and so is the number of traits; a token's score is the information content of its outcomes. Tokens with more
 * attributes that no other token has come first, then the higher score. `tokens`: the attributes of each, one per type.
 */
export function rankTokens(
  tokens: readonly (readonly number[])[],
  { types, typeOf, isNone }: AttributeTable,
): Rarity[] {
  const traitCounts = tokens.map((own) => own.filter((attribute) => !isNone[attribute]).length);
  const counts = tally(tokens.flat(), typeOf.length);
  const counted = tally(traitCounts, 1 + traitCounts.reduce((most, one) => Math.max(most, one), 0));
  const bits = (tokensWith: number) => -Math.log2(tokensWith / tokens.length);

  const absent = absentOf(counts, typeOf, types, tokens.length);
  const absentBits = absent.map((without) => (without > 0 ? bits(without) : 0));
  const allAbsent = absentBits.reduce((sum, one) => sum + one, 0);
  const entropy = entropyOf([...counts, ...absent, ...counted], tokens.length) || 1;

  const scored = tokens.map((own, index) => {
    const traitCount = counted[traitCounts[index] ?? 0] ?? 0;
    let information = allAbsent + bits(traitCount);
    let unique = traitCount === 1 ? 1 : 0;
    for (const attribute of own) {
      const holders = counts[attribute] ?? 0;
      information += bits(holders) - (absentBits[typeOf[attribute] ?? 0] ?? 0);
      if (holders === 1) unique += 1;
    }
    return { index, unique, score: information / entropy };
  });
  return withRanks(scored);
}

function tally(numbers: readonly number[], length: number): number[] {
  const counts = new Array<number>(length).fill(0);
  for (const one of numbers) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

/** How many tokens have no value of each type. */
function absentOf(
  counts: readonly number[],
  typeOf: readonly number[],
  types: number,
  tokens: number,
): number[] {
  const absent = new Array<number>(types).fill(tokens);
  for (const [attribute, holders] of counts.entries()) {
    const type = typeOf[attribute] ?? 0;
    absent[type] = (absent[type] ?? 0) - holders;
  }
  return absent;
}

/** Entropy in bits, from the number of tokens with each outcome. */
function entropyOf(outcomes: readonly number[], tokens: number): number {
  let entropy = 0;
  for (const holders of outcomes) {
    if (holders > 0) entropy -= (holders / tokens) * Math.log2(holders / tokens);
  }
  return entropy;
}

/** In the order of the tokens. Equal scores share a rank although one of them has more unique attributes. */
function withRanks(scored: { index: number; unique: number; score: number }[]): Rarity[] {
  const rarities = new Array<Rarity>(scored.length);
  const rarestFirst = scored.toSorted((a, b) => b.unique - a.unique || b.score - a.score);
  let before: Rarity | undefined;
  for (const [position, { index, score }] of rarestFirst.entries()) {
    const isTie = before !== undefined && isClose(score, before.score);
    before = { rank: isTie && before !== undefined ? before.rank : position + 1, score };
    rarities[index] = before;
  }
  return rarities;
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= tolerance * Math.max(Math.abs(one), Math.abs(other));
}
