import { sql } from "kysely";
import { ethereum } from "#chains/ethereum.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { tick } from "#projections/engine/tick.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { createProjections, dropTargets } from "../support/database/given.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { descendantsMs } from "./ponder/processor.ts";
import { projections, timed, withDatabase } from "./server.ts";

const WINDOW = 10_000;
const repeats = 5;
/** Of each log for each catch-up: a rebuild is short. */
const rebuilds = 4;

/** Facts per second, and per second of processor time of PostgreSQL and this process. */
type Rates = { elapsed: number[]; processor: number[] };
type Taken = { elapsedMs: number; processorMs: number };
type Measured = { db: Database; catchUp: Rates; rebuild: Rates };

const noRates = (): Rates => ({ elapsed: [], processor: [] });
const measured = (db: Database): Measured => ({ db, catchUp: noRates(), rebuild: noRates() });

/**
 * Catch-up and rebuild of a log of Seaport's fills, of one with as many facts in which half of the fills are other
 * exchanges', and of the first one's copy, by which the measurement's own error shows. Catch-up takes turns with each window
 * and rebuild with each projection: what else the machine does meets all alike.
 */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withDatabase(async (db, url) => {
    const opened: Database[] = [];
    const open = async (name: string) => {
      await sql`create database ${sql.ref(name)}`.execute(db);
      const options = { applicationName: "bench", prepares: true, onIdleError: () => {} };
      const other = openDatabase({ ...options, url: url.replace(/\/[^/]*$/, `/${name}`) });
      opened.push(other);
      await migrate(other);
      return other;
    };
    try {
      const [mixed, copy] = [await open("mixed"), await open("copy")];
      for (const one of [db, mixed, copy]) await makeLog(one, facts, one === mixed);
      const logs = [db, mixed, copy].map(measured);
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        await catchUp(rotated(logs, repeat), facts);
        for (let nth = 0; nth < rebuilds; nth += 1)
          await rebuild(rotated(logs, repeat + nth), facts);
        report(`${repeat + 1} of ${repeats} repeats done`);
      }
      return figuresOf(logs, facts);
    } finally {
      for (const other of opened) await other.destroy();
    }
  });
}

/** `isMixed`: half of the fills are other exchanges'. */
export async function makeLog(db: Database, facts: number, isMixed: boolean): Promise<void> {
  await makeEvents(db, { facts });
  if (isMixed) await replaceFills(db);
  await appendRange(db, 0, facts);
  await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
}

type Running = { one: Measured; targets: readonly Target[]; taken: Taken[] };

async function catchUp(logs: readonly Measured[], facts: number): Promise<void> {
  const running: Running[] = [];
  for (const one of logs) {
    await dropTargets(one.db);
    running.push({ one, targets: await createProjections(one.db, projections), taken: [] });
  }
  for (let after = 0; after < facts; after += WINDOW)
    await inTurns(running, ({ one, targets }) => tick(one.db, targets, WINDOW));
  for (const { one, taken } of running) addRate(one.catchUp, facts, taken);
}

async function rebuild(logs: readonly Measured[], facts: number): Promise<void> {
  const running: Running[] = logs.map((one) => ({ one, targets: [], taken: [] }));
  for (const { db } of logs) await dropTargets(db);
  for (const projection of projections)
    await inTurns(running, ({ one }) => deriveInBulk(one.db, targetOf(projection)));
  for (const { one, taken } of running) addRate(one.rebuild, facts, taken);
}

/** Does the work of each log; the next time another one is the first. */
async function inTurns(
  running: Running[],
  work: (running: Running) => Promise<unknown>,
): Promise<void> {
  for (const one of running) one.taken.push(await timeOf(() => work(one)));
  running.splice(0, running.length, ...rotated(running, 1));
}

function rotated<Value>(list: readonly Value[], by: number): Value[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

/** This process's time is read without what reading that of the others takes. */
async function timeOf(work: () => Promise<unknown>): Promise<Taken> {
  const startedMs = descendantsMs(process.pid);
  const own = process.cpuUsage();
  const elapsedMs = await timed(work);
  const { user, system } = process.cpuUsage(own);
  const processorMs = (user + system) / 1_000 + descendantsMs(process.pid) - startedMs;
  return { elapsedMs, processorMs };
}

function addRate({ elapsed, processor }: Rates, facts: number, taken: readonly Taken[]): void {
  const secondsOf = (one: keyof Taken) => taken.reduce((sum, times) => sum + times[one], 0) / 1_000;
  elapsed.push(facts / secondsOf("elapsedMs"));
  processor.push(facts / secondsOf("processorMs"));
}

const report = (line: string) => void process.stderr.write(`${line}\n`);

function figuresOf(logs: readonly Measured[], facts: number): Figure[] {
  const size = `${facts} facts, ${projections.length} projections, a tenth fills`;
  const rate = { unit: "facts/s" } as const;
  const goal = { unit: "ratio", atLeast: 0.95 } as const;
  return (["catchUp", "rebuild"] as const).flatMap((what) => {
    const name = what === "catchUp" ? "catch-up" : "rebuild";
    const [alone = noRates(), half = noRates(), copy = noRates()] = logs.map((one) => one[what]);
    const ratios = (rates: Rates, of: keyof Rates) =>
      rates[of].map((one, index) => one / (alone[of][index] ?? Number.NaN));
    const compared = (as: string, rates: Rates, told: Parameters<typeof medianFigure>[2]) => [
      medianFigure(`${name}, ${as}`, ratios(rates, "elapsed"), told, size),
      medianFigure(`${name}, ${as}, by processor time`, ratios(rates, "processor"), told, size),
    ];
    return [
      medianFigure(`${name}, Seaport's fills alone`, alone.elapsed, rate, size),
      medianFigure(`${name}, half other exchanges'`, half.elapsed, rate, size),
      ...compared("of Seaport alone", half, goal),
      ...compared("a copy of Seaport alone, of it", copy, { unit: "ratio" }),
    ];
  });
}

const addressOf = (source: string) =>
  exchanges
    .flatMap(({ sources }) => sources)
    .find(({ name }) => name === source)
    ?.deployed(ethereum)?.addresses?.[0] ?? "0x00000000000000000000000000000000000000aa";

/**
 * Replaces half of the fills, all of them of listings, in the proportions of recorded blocks of Ethereum: of 33 events
 * 20 are Blur's, 8 are swaps of Sudoswap's pools in ether, 3 Wyvern's and 2 Foundation's.
 */
async function replaceFills(db: Database): Promise<void> {
  const fee = `jsonb_build_array(jsonb_build_object('rate', 50, 'recipient', token))`;
  const order = (
    trader: string,
  ) => `jsonb_build_object('trader', ${trader}, 'side', 1, 'matchingPolicy', token,
    'collection', token, 'tokenId', id, 'amount', '1', 'paymentToken', '0x${"00".repeat(20)}', 'price', wei,
    'listingTime', '1', 'expirationTime', '2', 'fees', ${fee}, 'salt', '1', 'extraParams', '0x')`;
  const args = `case source
    when 'Blur' then jsonb_build_object('maker', seller, 'taker', buyer, 'sell', ${order("seller")}, 'sellHash', hash,
      'buy', ${order("buyer")}, 'buyHash', hash)
    when 'WyvernV2' then jsonb_build_object('buyHash', '0x${"00".repeat(32)}', 'sellHash', hash, 'maker', seller,
      'taker', buyer, 'price', wei)
    when 'Foundation' then jsonb_build_object('nftContract', token, 'tokenId', id, 'seller', seller, 'buyer', buyer,
      'protocolFee', '5', 'creatorFee', '10', 'sellerRev', wei)
    else '{}'::jsonb end`;
  const event = `case source when 'Blur' then 'OrdersMatched' when 'WyvernV2' then 'OrdersMatched'
    when 'Foundation' then 'BuyPriceAccepted' else 'SwapNFTOutPair' end`;
  const contract = `case source ${["Blur", "WyvernV2", "Foundation", "SudoswapV1"]
    .map((source) => `when '${source}' then '${addressOf(source)}'`)
    .join(" ")} end`;
  await sql
    .raw(`
    update bench.event e
    set kind = ${factKind.exchange_event}, contract = decode(substr(${contract}, 3), 'hex'), order_hash = null,
        from_address = null, to_address = null,
        payload = jsonb_build_object('source', source, 'event', ${event}, 'args', ${args}, 'sender', buyer,
          'target', ${contract}, 'calldataTail', null, 'transfers', jsonb_build_array(jsonb_build_object(
            'logIndex', log_index - 1, 'standard', 'erc721', 'contract', token, 'tokenId', id, 'amount', '1',
            'from', seller, 'to', buyer)))
          || case source when 'SudoswapV1' then jsonb_build_object('factory', null) else '{}' end
    from (
      select ord as place, '0x' || encode(from_address, 'hex') as seller, '0x' || encode(to_address, 'hex') as buyer,
             '0x' || encode(order_hash, 'hex') as hash, payload #>> '{offer,0,token}' as token,
             payload #>> '{offer,0,identifier}' as id, payload #>> '{consideration,0,amount}' as wei,
             case when ord / 3 % 33 < 20 then 'Blur' when ord / 3 % 33 < 28 then 'SudoswapV1'
                  when ord / 3 % 33 < 31 then 'WyvernV2' else 'Foundation' end as source
      from bench.event
      where kind = ${factKind.order_fulfilled} and payload #>> '{offer,0,itemType}' = '2'
        and (ord / 3 % 10 = 0 or ord / 30 % 2 = 0)
    ) sold where sold.place = e.ord`)
    .execute(db);
}
