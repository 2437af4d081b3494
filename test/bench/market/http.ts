import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { keepRole, pipelineSettings } from "#test/support/database/pipeline.ts";
import { type Figure, percentileFigures } from "../figure.ts";
import { chainId } from "./collections.ts";
import { addressOf, hotLists, type Sample } from "./lists.ts";

const WARM_UPS = 100;
const REQUESTS = 300;
/** Requests of each list that are repeated for a 304. */
const REPEATED = 25;
const STOP_MS = 8_000;
const percentiles = [
  { percent: 50, goalMs: null },
  { percent: 99, goalMs: null },
];

/** The same lists from one process of the API, one request after the other; then 304 answers. */
export async function measureHttp(url: string, sample: Sample, size: string): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  const chains = [{ chainId, rpcUrl: "http://127.0.0.1:9" }];
  const settings = await pipelineSettings({
    databaseUrl: url,
    chains,
    settings: { LOG_LEVEL: "error" },
  });
  const sink = (line: string) => void process.stderr.write(`${line.trimEnd()}\n`);
  const role = await keepRole("api", { settings, orphanGuard, sink });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const fetchPath = (path: string, headers = {}) =>
    fetchOnce(`http://127.0.0.1:${settings.PORT}${path}`, agent, headers);
  try {
    await role.ready;
    return await measureLists(fetchPath, sample, size);
  } finally {
    agent.destroy();
    await role.stop(STOP_MS);
    orphanGuard.killAll();
  }
}

type Answer = { status: number; headers: IncomingHttpHeaders; ms: number };
type Fetch = (path: string, headers?: Record<string, string>) => Promise<Answer>;

async function measureLists(fetchPath: Fetch, sample: Sample, size: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  const unchanged: number[] = [];
  for (const { name, next, isCached } of hotLists(sample)) {
    const paths = Array.from({ length: WARM_UPS + REQUESTS }, () => addressOf(next()));
    if (!paths.every((path) => path.startsWith("/v1"))) continue;
    const answers: Answer[] = [];
    for (const path of paths) answers.push(await expect(fetchPath(path), 200));
    const ms = answers.slice(WARM_UPS).map((answer) => answer.ms);
    const mode = isCached ? "HTTP, kept" : "HTTP";
    figures.push(...percentileFigures(`${name}, ${mode}`, ms, percentiles, size));
    for (const [index, path] of paths.slice(0, REPEATED).entries()) {
      const headers = { "If-None-Match": answers[index]?.headers.etag ?? "" };
      unchanged.push((await expect(fetchPath(path, headers), 304)).ms);
    }
  }
  return [...figures, ...percentileFigures("304 of all lists, HTTP", unchanged, percentiles, size)];
}

async function expect(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer;
  if (got.status !== status) throw new Error(`answered ${got.status}`);
  return got;
}

/** The answer with the milliseconds until its last byte. */
export async function fetchOnce(
  url: string,
  agent: Agent,
  headers: Record<string, string>,
): Promise<Answer> {
  const startedAt = performance.now();
  return await new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      buffer(response).then(() => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, ms: performance.now() - startedAt });
      }, reject);
    }).on("error", reject);
  });
}
