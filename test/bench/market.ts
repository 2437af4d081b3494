import { loadavg } from "node:os";
import type { Figure } from "./figure.ts";
import { percentileFigures } from "./figure.ts";
import { type Asker, openAsker } from "./market-client.ts";
import { withMarket } from "./market-data.ts";
import { measureDepth } from "./market-depth.ts";
import { measureHttp } from "./market-http.ts";
import { type Asked, hotLists, readSample, type Sample } from "./market-lists.ts";
import type { Spent } from "./market-meter.ts";

type Options = { scale: number; directory: string | null };

/** As many as requests differ, so that what they read was read before. */
const WARM_UPS = 400;
const REQUESTS = 300;

const goals = [
  { percent: 50, goalMs: 5 },
  { percent: 99, goalMs: 25 },
];
const noGoals = goals.map(({ percent }) => ({ percent, goalMs: null }));

/** The lists that most callers ask for, on millions of tokens: in the database, over HTTP, and far down a list. */
export async function run({ scale, directory }: Options): Promise<Figure[]> {
  return await withMarket({ scale, directory }, async (db, url) => {
    const sample = await readSample(db);
    const size = `${scale} of 5 000 000 tokens, load ${(loadavg()[0] ?? 0).toFixed(1)}`;
    const asker = openAsker(url);
    // What failed is told once nobody holds a connection to the server that ends.
    const asked = await measureLists(asker, sample, size).finally(() => asker.close());
    return [...asked, ...(await measureHttp(url, sample, size))];
  });
}

async function measureLists(asker: Asker, sample: Sample, size: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, next } of hotLists(sample)) {
    const spent = await askAll(asker, next);
    const statements = Math.max(...spent.map((one) => one.statements));
    const what = `${size}, ${statements} statements`;
    const [ms, cpuMs] = [spent.map((one) => one.ms), spent.map((one) => one.cpuMs)];
    figures.push(
      ...percentileFigures(`${name}, database`, ms, goals, what),
      ...percentileFigures(`${name}, database's processors`, cpuMs, noGoals, what),
    );
  }
  return [...figures, ...(await measureDepth(asker, sample, size))];
}

async function askAll(asker: Asker, next: () => Asked): Promise<Spent[]> {
  for (let turn = 0; turn < WARM_UPS; turn += 1) await asker.ask(next());
  const spent: Spent[] = [];
  for (let turn = 0; turn < REQUESTS; turn += 1) spent.push((await asker.ask(next())).spent);
  return spent;
}
