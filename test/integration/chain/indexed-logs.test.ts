import { type Hex, numberToHex, pad } from "viem";
import { describe, expect, it } from "vitest";
import { isLogOf, type LogsFilter, type RpcLog } from "#ops/reader/block-proof.ts";
import { mergeFilters, openIndexedLogs } from "#ops/reader/indexed-logs.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";

const topicOf = (kind: number, nth: number): Hex => pad(numberToHex(kind * 100 + nth));
const addressOf = (nth: number): Hex => pad(numberToHex(0xa00 + nth), { size: 20 });

/** As an indexer has them: an event's selector, and a place for each indexed argument, of any value but for some. */
function randomFilter(random: Random): LogsFilter {
  const selector = topicOf(1, random.int(1, 5));
  const others = Array.from({ length: random.int(0, 3) }, () =>
    random.chance(0.1) ? topicOf(2, random.int(1, 2)) : null,
  );
  const count = random.int(1, 3);
  const address = Array.from({ length: count }, () => addressOf(random.int(1, 6)));
  return { ...(random.chance(0.5) ? { address } : {}), topics: [selector, ...others] };
}

function randomLog(random: Random, nth: number): RpcLog {
  const others = Array.from({ length: random.int(0, 3) }, () => topicOf(2, random.int(1, 3)));
  const topics = [topicOf(1, random.int(1, 6)), ...others];
  const place = { blockHash: topicOf(3, nth >> 2), blockNumber: numberToHex(nth >> 2) };
  const transaction = { transactionHash: topicOf(4, nth), transactionIndex: "0x0" } as const;
  const log = { address: addressOf(random.int(1, 7)), topics, data: "0x" } as const;
  return { ...log, ...place, ...transaction, logIndex: numberToHex(nth & 3) };
}

/** As Ponder asks: an event's selector without places for its arguments, or several of the same contracts. */
function askedOf(random: Random, indexed: readonly LogsFilter[]): LogsFilter {
  const { address, topics = [] } = random.pick(indexed);
  const [selector] = topics as readonly Hex[];
  const same = indexed.filter((one) => `${one.address}` === `${address}`);
  const selectors = same.flatMap((one) => (random.chance(0.5) ? (one.topics as Hex[])[0] : []));
  const all = [selector, ...selectors].filter((one) => one !== undefined);
  return { ...(address && { address }), topics: [all] };
}

const range = { from: 0, to: 99 };
const idsOf = (logs: readonly RpcLog[]) => logs.map((log) => log.transactionHash);

describe("the logs of what is indexed", () => {
  it.each(Array.from({ length: 200 }, (_, seed) => seed))(
    "are those of each filter that an event of its own can be, in order and each once: seed %i",
    async (seed) => {
      const random = randomFrom(seed);
      const indexed = Array.from({ length: random.int(1, 12) }, () => randomFilter(random));
      const chain = Array.from({ length: 400 }, (_, nth) => randomLog(random, nth));
      let readings = 0;
      const read = openIndexedLogs(async (filter) => {
        readings += 1;
        return chain.filter((log) => isLogOf(filter, log));
      }, indexed);
      for (let time = 0; time < 10; time += 1) {
        const filter = askedOf(random, indexed);
        const logs = await read(filter, range);
        const decoded = (log: RpcLog) => indexed.some((one) => isLogOf(one, log));
        const isAnswered = new Set(idsOf(logs));
        const wanted = chain.filter((log) => isLogOf(filter, log));
        expect(idsOf(logs)).toEqual(idsOf(wanted).filter((id) => isAnswered.has(id)));
        expect(wanted.filter(decoded).every((log) => isAnswered.has(log.transactionHash))).toBe(
          true,
        );
      }
      expect(readings).toBe(mergeFilters(indexed).length);
    },
  );

  it("are read by the filter alone where it is of something else", async () => {
    const read: LogsFilter[] = [];
    const indexed = { address: addressOf(1), topics: [topicOf(1, 1)] };
    const logs = openIndexedLogs(
      async (filter) => {
        read.push(filter);
        return [];
      },
      [indexed],
    );
    const others = [
      {},
      { topics: [topicOf(1, 1)] },
      { address: addressOf(1), topics: [null] },
      { address: addressOf(2), topics: [topicOf(1, 1)] },
      { address: addressOf(1), topics: [[topicOf(1, 1), topicOf(1, 2)]] },
    ];
    for (const other of others) await logs(other, range);
    expect(read).toEqual(others);
  });

  it("are read by the filter alone where too many were to be kept", async () => {
    const read: LogsFilter[] = [];
    const many = Array.from({ length: 200_001 }, (_, nth) => ({
      ...{ address: addressOf(1), topics: [topicOf(1, 1)], data: "0x" },
      ...{ blockNumber: numberToHex(nth), blockHash: numberToHex(nth), logIndex: "0x0" },
    }));
    const filters = [1, 2].map((nth) => ({ topics: [topicOf(1, nth)] }));
    const logs = openIndexedLogs(async (filter) => {
      read.push(filter);
      return many as never;
    }, filters);
    for (const filter of filters) await logs(filter, range);
    expect(read).toEqual([{ topics: [[topicOf(1, 1), topicOf(1, 2)]] }, filters[1]]);
  });

  it("leave out logs with fewer topics than an event has: those of an ERC-20 have its selector", () => {
    const transfer = topicOf(1, 1);
    const filters = mergeFilters([
      { topics: [transfer, null, null, null] },
      { topics: [topicOf(1, 2), null, null, null] },
      { address: addressOf(1), topics: [transfer] },
      { address: addressOf(2), topics: [topicOf(1, 3), null] },
    ]);
    expect(filters).toEqual([
      { topics: [[transfer, topicOf(1, 2)], null, null, null] },
      { address: [addressOf(1), addressOf(2)], topics: [[transfer, topicOf(1, 3)]] },
    ]);
  });
});
