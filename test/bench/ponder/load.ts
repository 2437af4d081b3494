import { Pool } from "undici";

/** `body`: of a POST. */
export type LoadRequest = { path: string; body?: string };

/** Requests that the loader repeats on a number of connections. */
export type Load = {
  baseUrl: string;
  /** Sent in turn until the time is over. */
  requests: readonly LoadRequest[];
  headers?: Record<string, string>;
  /** Makes each URL unique by an ignored parameter. */
  isVaried?: boolean;
  connections: number;
  seconds: number;
};

export type LoadFigures = {
  requests: number;
  tookMs: number;
  p50Ms: number;
  p99Ms: number;
  /** Average size of an answer. */
  bytes: number;
  statuses: number[];
};

process.on("message", (load) => {
  loadOf(load as Load).then(
    (figures) => process.send?.(figures),
    (error: unknown) => {
      process.stderr.write(`${error}\n`);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));

const noRequest: LoadRequest = { path: "/" };

async function loadOf({
  baseUrl,
  connections,
  seconds,
  requests,
  headers = {},
  isVaried = false,
}: Load): Promise<LoadFigures> {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const durations: number[] = [];
  const statuses = new Set<number>();
  let [bytes, nth] = [0, 0];
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  const sendRequests = async () => {
    while (performance.now() < until) {
      const sent = performance.now();
      const request = requests[nth++ % requests.length] ?? noRequest;
      const path = isVaried ? `${request.path}&nth=${nth}-${sent}` : request.path;
      const { statusCode, body } = await pool.request(requestOf({ ...request, path }, headers));
      bytes += (await body.arrayBuffer()).byteLength;
      durations.push(performance.now() - sent);
      statuses.add(statusCode);
    }
  };
  await Promise.all(Array.from({ length: connections }, sendRequests));
  const tookMs = performance.now() - startedAt;
  await pool.close();
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return {
    ...{ requests: sorted.length, tookMs, p50Ms: at(0.5), p99Ms: at(0.99) },
    ...{ bytes: Math.round(bytes / sorted.length), statuses: [...statuses] },
  };
}

function requestOf({ path, body }: LoadRequest, headers: Record<string, string>) {
  if (body === undefined) return { path, method: "GET", headers } as const;
  return {
    ...({ path, method: "POST", body } as const),
    headers: { "content-type": "application/json", ...headers },
  };
}
