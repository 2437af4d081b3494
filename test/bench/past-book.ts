import { sql } from "kysely";
import type { Hex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { resolvePoint } from "#projections/engine/point.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { type Moment, momentOf } from "#projections/past/moment.ts";
import { readPastDepth } from "#projections/past/read-past-depth.ts";
import { readPastFigures } from "#projections/past/read-past-figures.ts";
import { readPastListingPage } from "#projections/past/read-past-listings.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { appendListed } from "./book.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { deriveTargets, projections, timed, withDatabase } from "./server.ts";

const BATCH = 50_000;
const TOKENS_OF_CONTRACT = 10_000;
const SAMPLES = 40;
/** Questions whose times do not count: connections, catalogs and plans. */
const WARM_UPS = 5;
const FIRST_PAGE = { limit: 51, offset: 0, after: null };

/** The book of a collection of 10,000 listed tokens, and of one of them, at blocks drawn of all. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    const listings = Math.floor(facts / 2 / TOKENS_OF_CONTRACT) * TOKENS_OF_CONTRACT;
    const contracts = listings / TOKENS_OF_CONTRACT;
    await appendExchange(db);
    for (let from = 0; from < listings; from += BATCH)
      await appendListed(db, from, Math.min(from + BATCH, listings), contracts);
    await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
    await deriveTargets(db, projections);
    await sql`vacuum analyze`.execute(db);
    const of = `${facts} facts, ${contracts} contracts of ${TOKENS_OF_CONTRACT} listed tokens, minted evenly over the blocks`;
    return [
      ...(await measure(db, "book of 10,000 listings", of, (moment, one) =>
        readPastDepth(db, [one.contractId], 50, moment),
      )),
      ...(await measure(db, "figures of it", of, (moment, one) =>
        readPastFigures(db, [one.contractId], moment),
      )),
      ...(await measure(db, "listings of a token", of, (moment, { contractId, tokenId }) => {
        const subject = { chainId: 1, contractIds: [contractId], tokenId, maker: null };
        return ask(db, moment, subject);
      })),
      ...(await measure(db, "listings of a maker", of, (moment, { maker }) =>
        ask(db, moment, { chainId: 1, contractIds: null, tokenId: null, maker }),
      )),
    ];
  });
}

/** The exchange and the common conduit, as every log has them: without, nothing is looked up of fills, counters and channels. */
async function appendExchange(db: Database): Promise<void> {
  const address = (hex: string) => sql`decode(${hex.slice(2)}, 'hex')`;
  const exchange = address(seaportAddresses["1.6"]);
  const nobody = sql`decode(repeat('01', 20), 'hex')`;
  await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                          transaction_hash, log_index, sub_index, contract, from_address, to_address, amount)
      select ord, kind, 1, 0, sha256('block'), to_timestamp(1699999999), 0, sha256('transaction'), ord, 0,
             contract, maker, conduit_exchange, 1
      from (values (0, ${sql.lit(factKind.channel_updated)}, ${address(commonConduit.address)}, null, ${exchange}),
                   (1, ${sql.lit(factKind.counter_incremented)}, ${exchange}, ${nobody}, null)
      ) first (ord, kind, contract, maker, conduit_exchange)`.execute(session);
    await appendStaged(session);
  });
}

type Subject = {
  chainId: number;
  contractIds: number[] | null;
  tokenId: bigint | null;
  maker: Hex | null;
};

const ask = (db: Database, moment: Moment, subject: Subject) => {
  const other = { marketplace: null, minPriceWei: null, maxPriceWei: null } as const;
  const filter = { ...subject, ...other, status: "active" } as const;
  return readPastListingPage(db, moment, filter, "price_asc", FIRST_PAGE, new Set());
};

type Listed = { contractId: number; tokenId: bigint; maker: Hex };

async function measure(
  db: Database,
  name: string,
  of: string,
  question: (moment: Moment, one: Listed) => Promise<unknown>,
): Promise<Figure[]> {
  const random = randomFrom(7);
  const { rows } = await sql<Listed>`
    select contract_id as "contractId", token_id as "tokenId", maker from listings.listing
    order by hashint8extended(token_id::bigint, 5) limit ${SAMPLES + WARM_UPS}`.execute(db);
  const { rows: blocks } = await sql<{ last: bigint }>`
    select max(number) as last from log.block`.execute(db);
  const durationsMs: number[] = [];
  for (const one of rows) {
    const named = { block: BigInt(random.int(1, Number(blocks[0]?.last ?? 1n))) };
    durationsMs.push(
      await timed(async () => {
        const point = await resolvePoint(db, 1, named);
        if (isRejection(point)) throw new Error(point.message);
        await question(await momentOf(db, point, named), one);
      }),
    );
  }
  const percentiles = [
    { percent: 50, goalMs: null },
    { percent: 99, goalMs: 300 },
  ];
  return percentileFigures(`past, ${name},`, durationsMs.slice(WARM_UPS), percentiles, of);
}
