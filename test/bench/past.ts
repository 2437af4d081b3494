import { sql } from "kysely";
import type { Hex } from "viem";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Point, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { momentOf } from "#projections/past/moment.ts";
import { readPastFigures } from "#projections/past/read-past-figures.ts";
import { readPastHolders } from "#projections/tokens/read-past-holders.ts";
import { readPastToken } from "#projections/tokens/read-past-token.ts";
import { readPastWalletTokens } from "#projections/tokens/read-past-wallet.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { deriveTargets, projections, timed, withLog } from "./server.ts";

const SAMPLES = 300;
const HOLDERS_SAMPLES = 40;
/** Questions whose times do not count: connections, catalogs and plans. */
const WARM_UPS = 10;
const PAGE = { limit: 51, after: null };

/** Owner of a token, tokens of a wallet, and holders and figures of collections, at blocks drawn of all. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, async (db) => {
    await deriveTargets(db, projections);
    await sql`vacuum analyze`.execute(db);
    return [
      ...(await measure(db, facts, await drawTokens(db))),
      ...(await measure(db, facts, await drawWallets(db))),
      ...(await measure(db, facts, await drawCollections(db))),
      ...(await measure(db, facts, await drawSold(db))),
    ];
  });
}

type Question = (point: Point) => Promise<unknown>;
type Drawn = { name: string; goalMs: number; questions: readonly Question[]; of: string };

async function measure(
  db: Database,
  facts: number,
  { name, goalMs, questions, of }: Drawn,
): Promise<Figure[]> {
  const random = randomFrom(7);
  const { rows } = await sql<{ first: bigint; last: bigint }>`
    select min(number) as first, max(number) as last from log.block`.execute(db);
  const [blocks] = rows;
  if (blocks === undefined) throw new Error("the log has no block");
  const durationsMs: number[] = [];
  for (const question of questions) {
    const block = blocks.first + BigInt(random.int(0, Number(blocks.last - blocks.first)));
    durationsMs.push(
      await timed(async () => {
        const point = await resolvePoint(db, 1, { block });
        if (isRejection(point)) throw new Error(point.message);
        await question(point);
      }),
    );
  }
  const percentiles = [
    { percent: 50, goalMs: null },
    { percent: 99, goalMs },
  ];
  return percentileFigures(
    `past, ${name},`,
    durationsMs.slice(WARM_UPS),
    percentiles,
    `${facts} facts, ${of}`,
  );
}

async function drawTokens(db: Database): Promise<Drawn> {
  const { rows } = await sql<{ contractId: number; tokenId: bigint }>`
    select contract_id as "contractId", token_id as "tokenId" from ownership.token
    order by hashint8extended(token_id::bigint * 2000 + contract_id, 5) limit ${SAMPLES + WARM_UPS}`.execute(
    db,
  );
  const { rows: counted } = await sql<{ tokens: bigint }>`
    select count(*) as tokens from ownership.token`.execute(db);
  return {
    ...{ name: "owner of a token", goalMs: 25, of: `${counted[0]?.tokens} tokens` },
    questions: rows.map(
      ({ contractId, tokenId }) =>
        (point) =>
          readPastToken(db, [contractId], tokenId, point),
    ),
  };
}

async function drawWallets(db: Database): Promise<Drawn> {
  const { rows } = await sql<{ wallet: Hex; tokens: bigint }>`
    select owner as wallet, sum(tokens)::bigint as tokens from ownership.holder group by owner
    order by hashbyteaextended(owner, 5) limit ${SAMPLES + WARM_UPS}`.execute(db);
  const sizes = rows.map(({ tokens }) => Number(tokens)).sort((one, other) => one - other);
  return {
    ...{ name: "50 tokens of a wallet", goalMs: 25 },
    of: `${rows.length} wallets that hold ${sizes[0]} to ${sizes.at(-1)} tokens, half of them up to ${sizes[sizes.length >> 1]}`,
    questions: rows.map(({ wallet }) => (point) => {
      return readPastWalletTokens(db, { chainId: 1, wallet, contractIds: null }, point, PAGE);
    }),
  };
}

async function drawCollections(db: Database): Promise<Drawn> {
  const { rows } = await sql<{ contractId: number; transfers: bigint }>`
    select c.contract_id as "contractId", (
             select count(*) from log.fact f
             where f.kind in (10, 11, 12) and f.contract_id = c.contract_id
           ) as transfers
    from (
      select contract_id from ownership.collection where tokens > 9000
      order by hashint4extended(contract_id, 5) limit ${HOLDERS_SAMPLES}
    ) c`.execute(db);
  const most = rows.reduce(
    (highest, { transfers }) => (transfers > highest ? transfers : highest),
    0n,
  );
  return {
    ...{ name: "holders of 10,000 tokens", goalMs: 300 },
    of: `${rows.length} contracts of 9,000 to 10,000 tokens with up to ${most} transfers`,
    questions: Array.from({ length: HOLDERS_SAMPLES + WARM_UPS }, (_, at) => (point) => {
      const contractId = rows[at % rows.length]?.contractId ?? 0;
      return readPastHolders(db, [contractId], point, PAGE);
    }),
  };
}

async function drawSold(db: Database): Promise<Drawn> {
  const { rows } = await sql<{ contractId: number; sales: bigint }>`
    select contract_id as "contractId", count(*) as sales from sales.sale
    group by contract_id order by sales desc, contract_id limit ${HOLDERS_SAMPLES}`.execute(db);
  return {
    ...{ name: "figures of a collection", goalMs: 300 },
    of: `the ${rows.length} contracts with most sales: ${rows.at(-1)?.sales} to ${rows[0]?.sales}`,
    questions: Array.from({ length: HOLDERS_SAMPLES + WARM_UPS }, (_, at) => async (point) => {
      const contractId = rows[at % rows.length]?.contractId ?? 0;
      return readPastFigures(db, [contractId], await momentOf(db, point, { block: point.block }));
    }),
  };
}
