import { loadavg } from "node:os";
import type { Figure } from "../figure.ts";
import { percentileFigures } from "../figure.ts";
import { openRouteClient, type RouteClient } from "./client.ts";
import { withMarket } from "./data.ts";
import { measureDepth } from "./depth.ts";
import { measureHttp } from "./http.ts";
import { hotLists, type ListRequest, readSample, type Sample } from "./lists.ts";
import type { Spent } from "./meter.ts";

type Options = { scale: number; directory: string | null };

/** At least as many as there are different requests, so that their data are in memory. */
const WARM_UPS = 400;
const REQUESTS = 300;

const goals = [
  { percent: 50, goalMs: 5 },
  { percent: 99, goalMs: 25 },
];
const noGoals = goals.map(({ percent }) => ({ percent, goalMs: null }));

/** The most used lists, on millions of tokens: in the database, over HTTP, and on deep pages. */
export async function run({ scale, directory }: Options): Promise<Figure[]> {
  return await withMarket({ scale, directory }, async (db, url) => {
    const sample = await readSample(db);
    const size = `${scale} of 5 000 000 tokens, load ${(loadavg()[0] ?? 0).toFixed(1)}`;
    const client = openRouteClient(url);
    // Connections are closed before an error stops the server.
    const database = await measureLists(client, sample, size).finally(() => client.close());
    return [...database, ...(await measureHttp(url, sample, size))];
  });
}

async function measureLists(client: RouteClient, sample: Sample, size: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, next } of hotLists(sample)) {
    const spent = await callRepeatedly(client, next);
    const statements = Math.max(...spent.map((one) => one.statements));
    const what = `${size}, ${statements} statements`;
    const [ms, cpuMs] = [spent.map((one) => one.ms), spent.map((one) => one.cpuMs)];
    figures.push(
      ...percentileFigures(`${name}, database`, ms, goals, what),
      ...percentileFigures(`${name}, database's processors`, cpuMs, noGoals, what),
    );
  }
  return [...figures, ...(await measureDepth(client, sample, size))];
}

async function callRepeatedly(client: RouteClient, next: () => ListRequest): Promise<Spent[]> {
  for (let turn = 0; turn < WARM_UPS; turn += 1) await client.call(next());
  const spent: Spent[] = [];
  for (let turn = 0; turn < REQUESTS; turn += 1) spent.push((await client.call(next())).spent);
  return spent;
}
