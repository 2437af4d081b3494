import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { chainId } from "./collections.ts";

/** A request of one of the most used lists. */
export type ListRequest = {
  /** As in OpenAPI, without the prefix of the NFT data API. */
  path: string;
  params: Record<string, string>;
  query: Record<string, string | Record<string, string>>;
};

/** `isCached`: answers are cached for a minute, so that over HTTP few of them are read from the database. */
type HotList = { name: string; next: () => ListRequest; isCached: boolean };

/** Collections and tokens that requests are built from. */
export type Sample = {
  /** Weighted by sales, some repeated. */
  collections: { slug: string; address: string; name: string }[];
  /** Tokens with metadata, those of the largest collection first. */
  described: {
    slug: string;
    address: string;
    attributes: Attribute[];
    owner: string;
    id: string;
  }[];
};
type Attribute = { trait_type: string; value: string };

const SAMPLES = 400;

/** A deterministic sample of collections and tokens. */
export async function readSample(db: Database): Promise<Sample> {
  const collections = await sql<Sample["collections"][number]>`
    select l.slug, '0x' || encode(c.address, 'hex') as address, c.name
    from generate_series(0, ${SAMPLES - 1}) ordinal
    cross join lateral (
      select * from bench.collection where first <= (
        select floor(sum(tokens) * power((ordinal * 379 % ${SAMPLES}) / ${SAMPLES}::float8, 2)) from bench.collection
      ) order by first desc limit 1
    ) c
    join log.contract k on k.chain_id = ${chainId} and k.address = c.address
    join collections.collection l on l.collection_id = k.contract_id
    order by ordinal`.execute(db);
  const described = await sql<Sample["described"][number]>`
    select l.slug, '0x' || encode(c.address, 'hex') as address, m.attributes, t.owner, t.token_id::text as id
    from generate_series(0, ${SAMPLES - 1}) ordinal
    cross join lateral (
      select * from bench.collection where is_described order by first
      offset case when ordinal % 2 = 0 then 0 else 1 + ordinal % 3 end limit 1
    ) c
    join log.contract k on k.chain_id = ${chainId} and k.address = c.address
    join collections.collection l on l.collection_id = k.contract_id
    join metadata.token m on m.contract_id = k.contract_id and m.token_id = (ordinal * 7919) % c.tokens
    join ownership.token t on t.contract_id = k.contract_id and t.token_id = m.token_id
    order by ordinal`.execute(db);
  return { collections: collections.rows, described: described.rows };
}

const chain = { chainId: String(chainId) };

/** The lists, each with varying requests. */
export function hotLists(sample: Sample): HotList[] {
  const collection = rotate(sample.collections);
  const token = rotate(sample.described);
  const largest = rotate(sample.described.filter((_, ordinal) => ordinal % 2 === 0));
  return [
    list("listings of a collection by price", "/v1/listings", () => ({
      query: { collection: collection().slug, sort: "price_asc" },
    })),
    ...tokenLists(collection, token),
    list("sales of a collection", "/v1/sales", () => ({
      query: { collection: collection().slug },
    })),
    list("sales with two traits", "/v1/sales", () => {
      const { slug, attributes } = token();
      return { query: { collection: slug, traits: twoOf(attributes) } };
    }),
    list("sales with the two commonest traits of 100 000 tokens", "/v1/sales", () => ({
      query: { collection: largest().slug, traits: { Background: "Background 0", Fur: "Fur 0" } },
    })),
    ...accountLists(token),
    ...activityLists(collection, token),
    list("collections, ranked", "/v1/collections", () => rankingOf(null)),
    list("collections with search", "/v1/collections", () => rankingOf(term(collection().name))),
    list("traits of 100 000 tokens", "/v1/collections/{collection}/traits", () => ({
      params: { collection: largest().slug },
    })),
  ];
}

type Rotation<Value> = () => Value;
type RequestParts = { params?: ListRequest["params"]; query?: ListRequest["query"] };

function list(name: string, path: string, part: () => RequestParts): HotList {
  const next = () => {
    const { params = {}, query = {} } = part();
    return { path, params, query: path.startsWith("/v1") ? { ...chain, ...query } : query };
  };
  return { name, next, isCached: path.endsWith("/traits") };
}

function activityLists(
  collection: Rotation<Sample["collections"][number]>,
  token: Rotation<Sample["described"][number]>,
): HotList[] {
  const types = rotate(["sale", "transfer,mint", "mint,burn,transfer", "sale,cancel,burn"]);
  return [
    list("activity of a collection", "/v1/activity", () => ({
      query: { collection: collection().slug },
    })),
    list("activity of a collection by type", "/v1/activity", () => ({
      query: { collection: collection().slug, type: types() },
    })),
    list("activity of a token", "/v1/collections/{collection}/tokens/{tokenId}/activity", () => {
      const { slug, id } = token();
      return { params: { collection: slug, tokenId: id } };
    }),
    list("activity of a wallet", "/v1/activity", () => ({ query: { wallet: token().owner } })),
    list("activity of the chain", "/v1/activity", () => ({})),
  ];
}

const sorts = ["token_id", "price_asc", "price_desc", "rarity", "recently_listed"];

/** Each sort, with every filter in turn. */
function tokenLists(
  collection: Rotation<Sample["collections"][number]>,
  token: Rotation<Sample["described"][number]>,
): HotList[] {
  return sorts.map((sort) => {
    const filters = rotate<() => RequestParts>([
      () => ({ params: { collection: collection().slug } }),
      () => ({ params: { collection: collection().slug }, query: { listed: "true" } }),
      () => ({ params: { collection: token().slug }, query: { listed: "true" } }),
      () => ({ params: { collection: token().slug }, query: { listed: "false" } }),
      () => {
        const { slug, owner } = token();
        return { params: { collection: slug }, query: { owner } };
      },
      () => {
        const { slug, id } = token();
        return { params: { collection: slug }, query: { token_ids: idsFrom(Number(id)) } };
      },
    ]);
    return list(`tokens by ${sort}`, "/v1/collections/{collection}/tokens", () => {
      const { params = {}, query = {} } = filters()();
      return { params, query: { ...query, sort } };
    });
  });
}

const idsFrom = (id: number) => Array.from({ length: 50 }, (_, ordinal) => id + ordinal * 3).join();

/** Lists of tokens by attributes, of the NFT data API. */
function accountLists(token: Rotation<Sample["described"][number]>): HotList[] {
  return ["token_id", "price_asc", "rarity"].map((sort) =>
    list(
      `account API: tokens with two traits by ${sort}`,
      "/api/collections/{address}/tokens",
      () => {
        const { address, attributes } = token();
        return { params: { address }, query: { sort, attributes: twoOf(attributes) } };
      },
    ),
  );
}

const rankings = rotate(
  ["volume", "floor", "sales", "listed", "supply", "holders", "change"].flatMap((sort) =>
    ["24h", "7d", "30d"].map((period) => ({ sort, period })),
  ),
);

function rankingOf(search: string | null): RequestParts {
  return { query: { ...rankings(), ...(search === null ? {} : { search }) } };
}

const lengths = rotate([1, 2, 3, 5, 8, 20]);
const term = (name: string) => name.slice(0, lengths()).trim();

const pairs = rotate([0, 1, 2, 3, 4, 5, 6, 7]);

/** Two traits of one token, so that frequent traits are requested often. */
function twoOf(attributes: readonly Attribute[]): Record<string, string> {
  const first = pairs();
  const [one, other] = [
    attributes[first],
    attributes[(first + 1 + (first % 3)) % attributes.length],
  ];
  return Object.fromEntries(
    [one, other].flatMap((trait) => (trait === undefined ? [] : [[trait.trait_type, trait.value]])),
  );
}

export function rotate<Value>(values: readonly Value[]): Rotation<Value> {
  let ordinal = 0;
  return () => {
    const value = values[ordinal++ % values.length];
    if (value === undefined) throw new Error("nothing to choose from");
    return value;
  };
}

/** The request's path and query. */
export function addressOf({ path, params, query }: ListRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string") search.set(name, value);
    else for (const [key, part] of Object.entries(value)) search.set(`${name}[${key}]`, part);
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  return `${filled}?${search}`;
}
