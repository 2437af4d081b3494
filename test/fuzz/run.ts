import { join } from "node:path";
import fc from "fast-check";
import { type Dispatcher, Pool } from "undici";
import type { ApiDocument } from "#api/reference/api-document.ts";
import { readRunningMarket } from "../hostile-contracts/running-market.ts";
import { drawRequests, type RequestDocument } from "../support/http/document-requests.ts";
import { withOwnParts } from "../support/http/openapi.ts";
import { accountRequests, v1Requests } from "../support/http/operation-requests.ts";
import { logIn, makeAccount } from "./account.ts";
import { type ApiProcess, type Stall, startApi } from "./api-process.ts";
import { brokenOrders, type FuzzRequest, withHeaders } from "./hostile-requests.ts";
import { chainId, type KnownMarket, readKnownMarket } from "./known-market.ts";
import { rawRequests, sendRaw } from "./raw-requests.ts";

type FuzzOptions = {
  /** Of the running local market. */
  dataDir: string;
  requests: number;
  seed: number;
  /** Requests in progress at a time. */
  concurrency: number;
  report: (line: string) => void;
};

export type FuzzReport = {
  statuses: Map<number, number>;
  /** 5xx other than 503 with `Retry-After`, and requests without an answer. */
  faults: string[];
  longest: Stall;
  /** Batches in which the process was kept for longer than allowed, by CPU time. */
  stalls: string[];
};

export const allowedStallMs = 100;
const batch = 200;
const accountBase = "/apechain";

/** Sends drawn requests to an API process of its own over a running market. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { environment, rpcUrl } = await readRunningMarket(options.dataDir);
  if (rpcUrl === null) throw new Error(`The service in ${options.dataDir} has no local chains`);
  const account = await makeAccount(environment.DATABASE_URL);
  const logFile = join(options.dataDir, "fuzz.log");
  options.report(`errors of the API: ${logFile}`);
  const api = await startApi(environment, logFile);
  const pool = new Pool(api.url, { connections: options.concurrency, pipelining: 1 });
  try {
    const market = await readKnownMarket(api.url, rpcUrl);
    const bearer = await logIn(api.url, account);
    const drawn = await drawnRequests(api.url, market, { login: account.login, bearer });
    return await run(options, { api, pool, drawn });
  } finally {
    await pool.destroy();
    await api.stop();
    await account.remove();
  }
}

type Login = Parameters<typeof accountRequests>[0] & { bearer: string };

/** Half of them plausible, the others at bounds, broken, deep, large, with hostile headers, or broken orders. */
async function drawnRequests(
  url: string,
  { ids, values }: KnownMarket,
  { login, bearer }: Login,
): Promise<fc.Arbitrary<FuzzRequest>> {
  const documentAt = async (path: string) =>
    withOwnParts((await (await fetch(url + path)).json()) as ApiDocument & RequestDocument);
  const v1 = drawRequests(await documentAt("/v1/openapi.json"), {
    values,
    requests: v1Requests({ ids, chainId }),
  });
  const account = drawRequests(await documentAt(`${accountBase}/openapi.json`), {
    values,
    requests: accountRequests({ login }),
  }).map((request) => ({
    ...request,
    path: accountBase + request.path,
    headers: { authorization: `Bearer ${bearer}` },
  }));
  return fc.oneof(
    { weight: 8, arbitrary: v1 },
    { weight: 3, arbitrary: account },
    { weight: 1, arbitrary: withHeaders(v1) },
    { weight: 1, arbitrary: withHeaders(account) },
    { weight: 2, arbitrary: brokenOrders(ids.signedAsk, ids.signedBid, chainId) },
  );
}

type Running = { api: ApiProcess; pool: Pool; drawn: fc.Arbitrary<FuzzRequest> };

async function run(
  { requests, seed, concurrency, report }: FuzzOptions,
  { api, pool, drawn }: Running,
): Promise<FuzzReport> {
  const found: FuzzReport = {
    statuses: new Map(),
    faults: [],
    longest: { cpuMs: 0, wallMs: 0 },
    stalls: [],
  };
  await api.readStall();
  for (let done = 0; done < requests; done += batch) {
    const sample = fc.sample(drawn, { numRuns: batch, seed: seed + done });
    await sendAll(sample, { pool, concurrency, found });
    const raw = rawRequests[(done / batch) % rawRequests.length] ?? "";
    count(found, await sendRaw(api.url, raw), `raw ${JSON.stringify(raw.slice(0, 60))}`, null);
    const stall = await api.readStall();
    found.longest.cpuMs = Math.max(found.longest.cpuMs, stall.cpuMs);
    found.longest.wallMs = Math.max(found.longest.wallMs, stall.wallMs);
    if (stall.cpuMs > allowedStallMs) {
      const culprit = await findCulprit(sample, { api, pool, found });
      found.stalls.push(`seed ${seed + done}: ${Math.round(stall.cpuMs)} ms; ${culprit}`);
    }
    if (api.hasEnded()) {
      found.faults.push(`seed ${seed + done}: the process ended`);
      return found;
    }
    if ((done / batch) % 25 === 24) report(`${done + batch} requests: ${describe(found)}`);
  }
  return found;
}

type Sending = { pool: Pool; concurrency: number; found: FuzzReport };

async function sendAll(
  sample: readonly FuzzRequest[],
  { pool, concurrency, found }: Sending,
): Promise<void> {
  const left = [...sample];
  const work = async () => {
    for (let request = left.pop(); request !== undefined; request = left.pop())
      await sendOne(pool, request, found);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

const timeoutMs = 60_000;

async function sendOne(pool: Pool, request: FuzzRequest, found: FuzzReport): Promise<void> {
  const { method, path, body, headers } = request;
  const name = `${method} ${path.slice(0, 300)} ${JSON.stringify(headers ?? {}).slice(0, 100)} ${body?.slice(0, 300) ?? ""}`;
  try {
    const answer = await pool.request({
      method: method === "get" ? "GET" : "POST",
      path,
      headers: { "content-type": "application/json", ...headers },
      headersTimeout: timeoutMs,
      ...(body !== undefined && { body }),
    });
    count(found, answer.statusCode, name, answer.headers["retry-after"] ?? null);
    await discard(answer);
  } catch (error) {
    // A body that is refused by its length: the connection ends while it is still being sent.
    const isCut = error instanceof Error && "code" in error && error.code === "UND_ERR_SOCKET";
    if (isCut && (body?.length ?? 0) > 16_000) count(found, 0, name, null);
    else found.faults.push(`${error} ${name}`);
  }
}

async function discard({ headers, body }: Dispatcher.ResponseData): Promise<void> {
  if (String(headers["content-type"]).startsWith("text/event-stream")) body.destroy();
  else await body.dump();
}

function count(found: FuzzReport, status: number, name: string, retryAfter: unknown): void {
  found.statuses.set(status, (found.statuses.get(status) ?? 0) + 1);
  if (status >= 500 && !(status === 503 && retryAfter !== null))
    found.faults.push(`${status} ${name}`);
}

/** Sends the requests of a batch one by one, and names the one that took longest. */
async function findCulprit(
  sample: readonly FuzzRequest[],
  { api, pool, found }: { api: ApiProcess; pool: Pool; found: FuzzReport },
): Promise<string> {
  let [worst, name] = [0, ""];
  for (const request of sample) {
    await sendOne(pool, request, found);
    const { cpuMs } = await api.readStall();
    if (cpuMs > worst)
      [worst, name] = [
        cpuMs,
        `${request.method} ${request.path.slice(0, 300)} ${request.body?.slice(0, 200) ?? ""}`,
      ];
  }
  return `alone ${Math.round(worst)} ms: ${name}`;
}

export function describe({ statuses, faults, longest, stalls }: FuzzReport): string {
  const answers = [...statuses]
    .toSorted(([one], [other]) => one - other)
    .map(([status, times]) => `${times} × ${status || "none"}`);
  const { cpuMs, wallMs } = longest;
  return (
    `${answers.join(", ")}; ${faults.length} faults, ${stalls.length} stalls; longest turn ` +
    `${Math.round(cpuMs)} ms of CPU, ${Math.round(wallMs)} ms by the clock`
  );
}
