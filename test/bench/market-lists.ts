import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { chainId } from "./market-collections.ts";

/** A request of one of the lists that most callers ask for. */
export type Asked = {
  /** As in OpenAPI; that of the account API has no prefix here. */
  path: string;
  params: Record<string, string>;
  query: Record<string, string | Record<string, string>>;
};

/** `isKept`: its answers are kept for a minute, so that over HTTP few of them are read. */
type HotList = { name: string; next: () => Asked; isKept: boolean };

/** What requests are made from. */
export type Sample = {
  /** By how much they are traded, some many times. */
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

/** Collections and tokens as callers would name them, in one order for equal markets. */
export async function readSample(db: Database): Promise<Sample> {
  const collections = await sql<Sample["collections"][number]>`
    select l.slug, '0x' || encode(c.address, 'hex') as address, c.name
    from generate_series(0, ${SAMPLES - 1}) place
    cross join lateral (
      select * from bench.collection where first <= (
        select floor(sum(tokens) * power((place * 379 % ${SAMPLES}) / ${SAMPLES}::float8, 2)) from bench.collection
      ) order by first desc limit 1
    ) c
    join log.contract k on k.chain_id = ${chainId} and k.address = c.address
    join collections.collection l on l.collection_id = k.contract_id
    order by place`.execute(db);
  const described = await sql<Sample["described"][number]>`
    select l.slug, '0x' || encode(c.address, 'hex') as address, m.attributes, t.owner, t.token_id::text as id
    from generate_series(0, ${SAMPLES - 1}) place
    cross join lateral (
      select * from bench.collection where is_described order by first
      offset case when place % 2 = 0 then 0 else 1 + place % 3 end limit 1
    ) c
    join log.contract k on k.chain_id = ${chainId} and k.address = c.address
    join collections.collection l on l.collection_id = k.contract_id
    join metadata.token m on m.contract_id = k.contract_id and m.token_id = (place * 7919) % c.tokens
    join ownership.token t on t.contract_id = k.contract_id and t.token_id = m.token_id
    order by place`.execute(db);
  return { collections: collections.rows, described: described.rows };
}

const chain = { chainId: String(chainId) };

/** The lists, each with requests that differ. */
export function hotLists(sample: Sample): HotList[] {
  const collection = turning(sample.collections);
  const token = turning(sample.described);
  const largest = turning(sample.described.filter((_, place) => place % 2 === 0));
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
    list("collections, ranked", "/v1/collections", () => rankingOf(null)),
    list("collections with search", "/v1/collections", () => rankingOf(term(collection().name))),
    list("traits of 100 000 tokens", "/v1/collections/{collection}/traits", () => ({
      params: { collection: largest().slug },
    })),
  ];
}

type Turn<Value> = () => Value;
type Part = { params?: Asked["params"]; query?: Asked["query"] };

function list(name: string, path: string, part: () => Part): HotList {
  const next = () => {
    const { params = {}, query = {} } = part();
    return { path, params, query: path.startsWith("/v1") ? { ...chain, ...query } : query };
  };
  return { name, next, isKept: path.endsWith("/traits") };
}

const sorts = ["token_id", "price_asc", "price_desc", "rarity", "recently_listed"];

/** Each sort, with every filter in turn. */
function tokenLists(
  collection: Turn<Sample["collections"][number]>,
  token: Turn<Sample["described"][number]>,
): HotList[] {
  return sorts.map((sort) => {
    const filters = turning<() => Part>([
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

const idsFrom = (id: number) => Array.from({ length: 50 }, (_, place) => id + place * 3).join();

/** Tokens by attributes are asked for in the account API. */
function accountLists(token: Turn<Sample["described"][number]>): HotList[] {
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

const rankings = turning(
  ["volume", "floor", "sales", "listed", "supply", "holders", "change"].flatMap((sort) =>
    ["24h", "7d", "30d"].map((period) => ({ sort, period })),
  ),
);

function rankingOf(search: string | null): Part {
  return { query: { ...rankings(), ...(search === null ? {} : { search }) } };
}

const lengths = turning([1, 2, 3, 5, 8, 20]);
const term = (name: string) => name.slice(0, lengths()).trim();

const pairs = turning([0, 1, 2, 3, 4, 5, 6, 7]);

/** Two traits that one token has, so that what is common is asked for often. */
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

function turning<Value>(values: readonly Value[]): Turn<Value> {
  let place = 0;
  return () => {
    const value = values[place++ % values.length];
    if (value === undefined) throw new Error("nothing to choose from");
    return value;
  };
}

/** The request's address, after the API's own. */
export function addressOf({ path, params, query }: Asked): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string") search.set(name, value);
    else for (const [key, part] of Object.entries(value)) search.set(`${name}[${key}]`, part);
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  return `${filled}?${search}`;
}
