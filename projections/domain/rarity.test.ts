import { existsSync, readFileSync } from "node:fs";
import { env } from "node:process";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Rarity, rankTokens } from "./rarity.ts";

type Traits = Record<string, string>;

/** Ranks tokens given by their traits as text. */
function rank(tokens: readonly Traits[]): Rarity[] {
  const types = [...new Set(tokens.flatMap(Object.keys))];
  const nameOf = ([type, value]: [string, string]) => JSON.stringify([type, value]);
  const names = [...new Set(tokens.flatMap((token) => Object.entries(token).map(nameOf)))];
  const attributes = names.map((name): [string, string] => JSON.parse(name));
  return rankTokens(
    tokens.map((token) => Object.entries(token).map((trait) => names.indexOf(nameOf(trait)))),
    {
      types: types.length,
      typeOf: attributes.map(([type]) => types.indexOf(type)),
      isNone: attributes.map(([, value]) => value === "none"),
    },
  );
}

const ranksOf = (tokens: readonly Traits[]) => rank(tokens).map((one) => one.rank);
const traits = (...values: string[]): Traits =>
  Object.fromEntries(values.map((value, index) => [`trait${index + 1}`, value]));

/** The method literally: the sum over every outcome of every type, missing ones included. */
function literalScores(tokens: readonly Traits[]): { score: number; unique: number }[] {
  const counted = tokens.map((token) => ({
    ...token,
    count: String(Object.values(token).filter((value) => value !== "none").length),
  }));
  const types = [...new Set(counted.flatMap(Object.keys))];
  const outcome = (token: Traits, type: string) => token[type] ?? null;
  const share = (type: string, value: string | null) =>
    counted.filter((token) => outcome(token, type) === value).length / counted.length;
  const entropy = types
    .flatMap((type) =>
      [...new Set(counted.map((token) => outcome(token, type)))].map((value) => share(type, value)),
    )
    .reduce((sum, p) => sum - p * Math.log2(p), 0);
  return counted.map((token) => ({
    score:
      types.reduce((sum, type) => sum - Math.log2(share(type, outcome(token, type))), 0) /
      (entropy || 1),
    unique: Object.entries(token).filter(
      ([type, value]) => share(type, value) * counted.length === 1,
    ).length,
  }));
}

const collections = fc.array(
  fc.record(
    {
      hat: fc.constantFrom("cap", "none", "crown", "fez"),
      fur: fc.constantFrom("gold", "tan"),
      eyes: fc.constantFrom("laser", "sad", "none"),
    },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 25 },
);

describe("rarity", () => {
  it("gives the published scores of a collection with a tie", () => {
    const rarities = rank([
      traits("value1", "value1", "value1"),
      traits("value1", "value1", "value1"),
      traits("value2", "value1", "value3"),
      traits("value2", "value2", "value3"),
      traits("value3", "value3", "value3"),
    ]);
    expect(rarities.map((one) => one.rank)).toEqual([3, 3, 5, 2, 1]);
    const published = [
      0.8749925360622679, 0.8749925360622679, 0.7235980365241422, 1.1338031424711967,
      1.3926137488801251,
    ];
    for (const [place, score] of published.entries()) {
      expect(rarities[place]?.score).toBeCloseTo(score, 12);
    }
  });

  it("ranks unique traits before scores; a trait that others lack also changes the number of traits", () => {
    expect(
      ranksOf([
        traits("value1", "value1", "value2"),
        traits("value1", "value2", "value2"),
        traits("value1", "value2", "value3"),
        traits("value1", "value2", "value2", "value1"),
      ]),
    ).toEqual([2, 4, 2, 1]);
  });

  it("does not count values that mean none as traits", () => {
    const [bare, none] = rank([
      { fur: "tan" },
      { fur: "tan", hat: "none" },
      { fur: "tan", hat: "cap" },
    ]);
    const [, alone] = rank([{ fur: "tan" }, { fur: "tan", hat: "none" }]);
    expect(none?.score).toBeCloseTo(bare?.score ?? -1, 12);
    expect(alone?.score).toBe(1);
  });

  it("ranks a single token first without information, and no token of an empty collection", () => {
    expect(rank([{ fur: "tan" }])).toEqual([{ rank: 1, score: 0 }]);
    expect(rank([])).toEqual([]);
  });

  it("equals the literal method", () => {
    fc.assert(
      fc.property(collections, (tokens) => {
        const rarities = rank(tokens);
        const expected = literalScores(tokens);
        for (const [place, { score }] of expected.entries()) {
          expect(rarities[place]?.score).toBeCloseTo(score, 9);
        }
        for (const [place, one] of expected.entries()) {
          const before = expected.filter(
            (other) =>
              other.unique > one.unique ||
              (other.unique === one.unique && other.score > one.score * (1 + 1e-9)),
          );
          const own = rarities[place]?.rank ?? 0;
          const isTie = before.some((other) => Math.abs(other.score - one.score) < 1e-9);
          if (!isTie) expect(own).toBe(before.length + 1);
        }
      }),
    );
  });

  it("gives equal tokens equal ranks, in any order", () => {
    fc.assert(
      fc.property(collections, (tokens) => {
        const ranks = ranksOf(tokens);
        expect(ranksOf(tokens.toReversed()).toReversed()).toEqual(ranks);
        for (const [place, token] of tokens.entries()) {
          const same = tokens.findIndex((other) => scoreKey(other) === scoreKey(token));
          expect(ranks[place]).toBe(ranks[same]);
        }
      }),
    );
  });
});

const scoreKey = (token: Traits) => JSON.stringify(Object.entries(token).toSorted());

// biome-ignore lint/style/noProcessEnv: the environment sets where the data is
const realData = env.REAL_DATA_DIR ?? "../shared/realdata";
const apes = `${realData}/rarity/bayc_traits.json.gz`;

describe.runIf(existsSync(apes))("the rarity of 10,000 real tokens", () => {
  const dataset: { token_id: number; metadata_dict: Traits }[] = existsSync(apes)
    ? JSON.parse(gunzipSync(readFileSync(apes)).toString())
    : [];
  const tokens = dataset.map((token) => token.metadata_dict);

  it("equals the literal method, with ranks that count ties", () => {
    const rarities = rank(tokens);
    expect(rarities).toHaveLength(10_000);
    const places = new Map<number, number>();
    for (const one of rarities) places.set(one.rank, (places.get(one.rank) ?? 0) + 1);
    let next = 1;
    for (const [own, holders] of [...places].toSorted(([a], [b]) => a - b)) {
      expect(own).toBe(next);
      next += holders;
    }
    const sample = new Set([0, 1, 2, 99, 5_000, 8_585, 9_999]);
    for (const [place, score] of scoresOf(tokens, sample)) {
      expect(rarities[place]?.score).toBeCloseTo(score, 9);
    }
  });
});

/** Scores of some tokens, with each outcome counted once. */
function scoresOf(tokens: readonly Traits[], wanted: ReadonlySet<number>): [number, number][] {
  const counted = tokens.map(
    (token): Traits => ({
      ...token,
      count: String(Object.keys(token).length),
    }),
  );
  const types = [...new Set(counted.flatMap(Object.keys))];
  const shares = new Map<string, number>();
  for (const token of counted) {
    for (const type of types) {
      const key = `${type}=${token[type]}`;
      shares.set(key, (shares.get(key) ?? 0) + 1 / counted.length);
    }
  }
  const entropy = [...shares.values()].reduce((sum, p) => sum - p * Math.log2(p), 0);
  return [...wanted].map((place) => [
    place,
    types.reduce(
      (sum, type) => sum - Math.log2(shares.get(`${type}=${counted[place]?.[type]}`) ?? 0),
      0,
    ) / entropy,
  ]);
}
